# The front door; CMake presets do the work. `make` builds build/leat and what is installed with it,
# no tests and nothing that measures.
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)

build = cmake --build build/$(1) -j $(JOBS)
ctest = ctest --test-dir build/$(1) --output-on-failure -j $(JOBS)
# The other architecture, by a cross-compiler and an emulator.
FOREIGN = $(if $(filter aarch64,$(shell uname -m)),x86_64,aarch64)

all: build/release/build.ninja
	$(call build,release)
	@ln -sfn release/tool/leat build/leat
	@mkdir -p build/try

build/%/build.ninja:
	cmake --preset $* --log-level=WARNING

run: all                 # the tour that ./demo gives
	sh setup/tour.sh build/leat

test: build/debug/build.ninja build/release/build.ninja
	$(call build,debug) --target all tests && $(call ctest,debug)
	$(call build,release) --target all tests benches && $(call ctest,release)

install: all
	DESTDIR=$(DESTDIR) cmake --install build/release --prefix $(PREFIX)
	cp build/release/install_manifest.txt build/installed.txt

uninstall:               # what the last `make install` installed; give it the same DESTDIR
	@[ -e build/installed.txt ] || { echo "nothing was installed from here" >&2; exit 2; }
	sed 's,^,$(DESTDIR),' build/installed.txt | tr '\n' '\0' | xargs -0 rm -f
	rm build/installed.txt

deb:                     # Debian packages, in build/deb
	sh setup/deb.sh

test-deb:                # installs, uses and removes them in a bare Debian (root)
	sh test/deb.sh

test-container:          # builds and uses the container of share/container (root)
	sh test/container.sh

test-compilers:          # builds with every C compiler that is installed, or CC="gcc-11 clang-19"
	sh test/compilers.sh $(if $(filter command,$(origin CC)),$(CC))

bench: all               # tables, and JSON in build/bench_*.json
	$(call build,release) --target benches
	build/release/bench/bench_wire --json build/bench_wire.json
	sh bench/bench_decode.sh build/leat build/bench_decode.json
	build/release/bench/bench_agenda --json build/bench_agenda.json
	build/release/bench/bench_atm --large --json build/bench_atm.json
	build/release/bench/bench_fabric --large --json build/bench_fabric.json
	-build/release/bench/bench_device --json build/bench_device.json
	python3 bench/bench_threads.py build/leat build/bench_threads.json
	build/release/bench/bench_replay --json build/bench_replay.json
	build/release/bench/bench_ring --json build/bench_ring.json
	build/release/bench/bench_esp --json build/bench_esp.json
	sh bench/bench_esp_sim.sh build/leat build/bench_esp_sim.json
	sh bench/bench_esp_live.sh build/leat build/release/bench/bench_esp_live build/bench_esp_live.json
	sh bench/bench_flood.sh build/leat build/release/bench/bench_flood build/bench_flood.json
	build/release/bench/bench_packetway --json build/bench_packetway.json
	python3 bench/bench_pktway_sizes.py build/leat build/bench_pktway_sizes.json
	sh bench/bench_run.sh build/leat build/bench_run.json
	python3 bench/bench_collectives.py build/leat build/bench_collectives.json
	sh bench/bench_mpi_live.sh build/leat build/bench_mpi_live.json
	python3 bench/bench_ranks.py build/leat build/bench_ranks.json
	sh bench/bench_poets.sh build/leat build/bench_poets.json
	sh bench/bench_view.sh build/leat build/release || [ $$? = 77 ]
	sh bench/bench_ring_live.sh build/leat build/release/bench/bench_ring_live build/bench_ring_live.json
	sh bench/bench_pktway_live.sh build/leat build/release/bench/bench_pktway_live build/bench_pktway_live.json

# The same work in leat and its peers, with ratios: BOOKSIM=FOLDER is a built checkout of BookSim2, POEMS=FOLDER one of
# graph_schema; SimGrid where it is installed (libsimgrid-dev). Others are skipped. Some ten minutes.
bench-peers: all
	python3 bench/bench_peers.py build/leat build/bench_peers.json $(if $(BOOKSIM),--booksim $(BOOKSIM)) \
	    $(if $(POEMS),--poems $(POEMS))

validate: all            # networks beside reference results; writes doc/validation.md
	python3 test/validate/validate.py build/release/tool/leat --long doc

fuzz: build/fuzz/build.ninja   # by clang, which has to accept the whole product
	$(call build,fuzz) --target all tests && $(call ctest,fuzz) -L fuzz

soak: all build/soak/build.ninja build/fuzz/build.ninja   # the campaigns at 400 times their length
	$(call build,soak) --target all tests && $(call ctest,soak)
	$(call build,fuzz) --target all tests && $(call ctest,fuzz) -L fuzz
	python3 test/soak/ranks.py build/leat $(or $(RUNS),1000) $(or $(SEED),1)
	sh test/soak/devices.sh build/soak/device_net_test $(or $(RUNS),10000) $(or $(SEED),1)
	python3 test/soak/faults.py build/leat $(or $(RUNS),1000) $(or $(SEED),1)

# What runs on several threads, under ThreadSanitizer. leat run is not among it: its memory shared with ranks has no room beside the sanitizer's.
THREADED = ^(crew|net\.net_(team|ranks)|command\.(net|sim|graph_run|graph_fabric|graph_record)($$|_))
test-threads: build/threads/build.ninja
	$(call build,threads) --target all crew_test net_team_test net_ranks_test && \
	    $(call ctest,threads) -R '$(THREADED)'

FROM ?= 1
TO   ?= 200
seeds: build/seeds/build.ninja   # every random campaign, shortened, with many seeds: FROM to TO
	$(call build,seeds) --target tests && sh test/seeds.sh build/seeds $(FROM) $(TO)

# Collective calls of stock mpirun by a live ring and by ESP routers, in namespaces (root, a few minutes).
mpi-live: all
	sh tool/mpi/mpi_live_test.sh build/leat
	sh tool/mpi/mpi_esp_test.sh build/leat
	sh tool/mpi/mpi_conformance.sh build/leat

# Random collective operations by the network have the results of stock Open MPI: OPERATIONS of them.
soak-collectives: all
	sh test/soak/collectives.sh build/leat $(or $(OPERATIONS),10000)

# One program over one fabric has one certificate and one output: 100 runs of each of six programs over
# six fabrics, beside four busy loops (hours). RUNS and BUSY change that.
soak-runs: all
	sh test/soak/runs.sh build/leat $(or $(RUNS),100) $(or $(BUSY),4)

# What users' files, the system and other people may do to a command (doc/reliability.md). SIZE is how much of each
# is tried, SEED which. Each ends with what was tried and found; exit code 1: something was found.
campaigns: campaign-cut campaign-fail campaign-kill campaign-narrow campaign-faults campaign-dissect

campaign-cut: build/debug/build.ninja     # files cut at every octet, and SIZE mutations of each
	$(call build,debug)
	python3 test/soak/cut.py build/debug/tool/leat $(or $(SIZE),300) $(or $(SEED),1)

campaign-mutate: all build/debug/build.ninja   # SIZE mutations of each file by the release, one of 10,000 with sanitizers
	$(call build,release) --target mutate
	$(call build,debug)
	python3 test/soak/mutate.py build/release/tool/leat build/release/test/mutate.so $(or $(SIZE),1000000) $(or $(SEED),1) build/campaigns/mutate
	python3 test/soak/mutate.py build/debug/tool/leat build/release/test/mutate.so $$(($(or $(SIZE),1000000) / 10000)) $(or $(SEED),1) build/campaigns/mutate-debug

campaign-fail: all                        # each call of SIZE calls of each command fails (0: of all)
	$(call build,release) --target fail_once
	python3 test/soak/fail_once.py build/release/tool/leat build/release/test/fail_once.so $(or $(SIZE),0) $(or $(SEED),1)

campaign-kill: all                        # runs, sweeps and graphs are ended at SIZE random moments each
	python3 test/soak/kill.py build/release/tool/leat $(or $(SIZE),100) $(or $(SEED),1)

campaign-narrow: all                      # no room, no descriptors, no stack: SIZE times, with other sizes each
	for seed in $$(seq $(or $(SEED),1) $$(($(or $(SEED),1) + $(or $(SIZE),3) - 1))); do \
	    python3 test/soak/narrow.py build/release/tool/leat $$seed || exit 1; done

campaign-faults: all                      # SIZE programs each over networks with random faults; the second goes on where it was ended
	python3 test/soak/faults.py build/release/tool/leat $(or $(SIZE),200) $(or $(SEED),1)
	KEEP=build/campaigns python3 test/soak/conformance.py build/release/tool/leat $(or $(SIZE),200) $(or $(SEED),1)

campaign-dissect: all                     # SIZE packets, by every codec and by the Wireshark dissectors
	python3 test/soak/dissect.py build/release/tool/leat $(or $(SIZE),60000) $(or $(SEED),1)

# All fuzz targets, SIZE executions together, JOBS at a time; goes on where an earlier call was ended. SLICE: seconds each.
campaign-fuzz: build/fuzz/build.ninja build/fuzz-fast/build.ninja
	$(call build,fuzz) --target fuzzers
	$(call build,fuzz-fast) --target fuzzers
	JOBS=$(JOBS) python3 test/soak/fuzz.py build/fuzz-fast build/fuzz $(or $(SIZE),1000000000)

test-valgrind: all                        # small commands of every verb use no memory that is not theirs, and lose none
	python3 test/soak/memcheck.py build/release/tool/leat

analyse: all                              # clang-tidy and gcc -fanalyzer over the product, or FILES='pattern'
	python3 test/analyse.py build/release '$(FILES)'

coverage: build/coverage/build.ninja
	$(call build,coverage) --target all tests && $(call ctest,coverage) -L unit
	sh test/coverage.sh build/coverage

# Core, rooms, simulators and their tests on other processors, emulated; the certificates are those
# of this one. Packages for the big-endian one: gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user;
# for the foreign one, see setup/packages.sh.
test-big-endian: build/big-endian/build.ninja
	$(call build,big-endian) --target all tests && $(call ctest,big-endian) -L unit

test-foreign: build/foreign-$(FOREIGN)/build.ninja
	$(call build,foreign-$(FOREIGN)) --target all tests && $(call ctest,foreign-$(FOREIGN)) -L unit

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

clean:
	rm -rf build

.PHONY: all run test install uninstall deb test-deb test-container test-compilers bench bench-peers validate fuzz soak soak-runs soak-collectives mpi-live seeds coverage campaigns campaign-cut campaign-mutate campaign-fail \
        campaign-kill campaign-narrow campaign-faults campaign-dissect campaign-fuzz analyse test-valgrind test-big-endian test-foreign test-threads format clean
.PRECIOUS: build/%/build.ninja
