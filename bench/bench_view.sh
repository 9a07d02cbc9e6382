#!/bin/sh
# How quickly does the page of leat view open a recording of 10,000,000 events in Chromium, and how smoothly does it move?
# usage: bench_view.sh LEAT BUILD
exec sh "$(dirname "$0")/../tool/view/view_browser_test.sh" "$1" "$2" bench
