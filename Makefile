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

uninstall:               # what `make install` with the same PREFIX and DESTDIR has installed
	@[ -e build/release/install_manifest.txt ] || { echo "nothing was installed from here" >&2; exit 2; }
	sed 's,^,$(DESTDIR),' build/release/install_manifest.txt | tr '\n' '\0' | xargs -0 rm -f

deb:                     # Debian packages, in build/deb
	sh setup/deb.sh

test-deb:                # installs, uses and removes them in a bare Debian (root)
	sh test/deb.sh

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
	build/release/bench/bench_packetway --json build/bench_packetway.json
	python3 bench/bench_pktway_sizes.py build/leat build/bench_pktway_sizes.json
	sh bench/bench_run.sh build/leat build/bench_run.json
	python3 bench/bench_collectives.py build/leat build/bench_collectives.json
	sh bench/bench_mpi_live.sh build/leat build/bench_mpi_live.json
	python3 bench/bench_ranks.py build/leat build/bench_ranks.json
	sh bench/bench_poets.sh build/leat build/bench_poets.json
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

soak: all build/soak/build.ninja build/fuzz/build.ninja   # the campaigns at a hundred times their length
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

.PHONY: all run test install uninstall deb test-deb bench bench-peers validate fuzz soak soak-runs soak-collectives mpi-live seeds coverage test-big-endian \
        test-foreign test-threads format clean
.PRECIOUS: build/%/build.ninja
