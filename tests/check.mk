# Long attacks on the program, each a target of its own; make check runs them all.
# make check-long        the tests tagged #long
# make check-sanitizers  specs of the C code with AddressSanitizer and UBSan
# make check-collector   specs, with a collection of garbage at every allocation
# make check-valgrind    a sample, with memcheck
# make check-threads     specs of the C code with ThreadSanitizer
# make check-tidy        clang-tidy
# make check-fuzz        random input; SEED=N
# make check-faults      failing calls of whole scripts; SEED=N FAULTS='step lua once'
# make check-kills       kills and power cuts; SEED=N

# The names of the packages are those of Debian 12.
CHECK_PACKAGES := $(TEST_PACKAGES) clang clang-tidy libclang-rt-14-dev libomp-dev valgrind

.PHONY: check check-packages sanitized check-sanitizers check-collector check-valgrind \
        check-threads check-tidy check-fuzz check-faults check-kills check-long
check: check-long check-sanitizers check-collector check-valgrind check-threads check-tidy \
       check-fuzz check-faults check-kills

# The flags of pkg-config, also for packages that this target has installed.
INCLUDES = $$(pkg-config --cflags-only-I $(LIBS))
check-packages:
	@$(call deps,$(BUILD_PACKAGES) $(CHECK_PACKAGES))
	@$(MAKE) --no-print-directory -j all

check-long: check-packages
	lua5.4 tests/main.lua '--busted=busted --tags=long' $$(grep -rl '#long' tests --include=*_spec.lua)

# Builds of the module with other CFLAGS, and specs that run with it in two processes at a time.
# The runtime library of a sanitizer is preloaded, because Lua is built without it.
attacked = $(MAKE) --no-print-directory -j KERNELS_FOR=native BUILD=$(1) \
  CFLAGS='-O1 -g $(2) -DRP_POOL_NONE' LDFLAGS='$(2)' $(3) $(1)/roper/native.so
suite = lua5.4 tests/main.lua --jobs=2 '--busted=env $(2) lua5.4 -e require"luv".$(3) \
  $(shell command -v busted) --ignore-lua --exclude-tags=memory --cpath=$(1)/?.so' $(4)

# Tests tagged #memory would count the memory that the sanitizer keeps. Leaks are found in the
# processes of specs, not in programs that they start. libuv leaks; it is preloaded, because the
# suppression cannot name a library that was unloaded.
SANITIZED := $(BUILD)/sanitized
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=undefined
ASAN = LD_PRELOAD=$(shell $(CC) -print-file-name=libasan.so):libuv.so.1 \
  LSAN_OPTIONS=suppressions=tests/fixtures/leaks.txt:print_suppressions=0
WITHOUT_LEAKS := os_setenv("ASAN_OPTIONS","detect_leaks=0")
sanitized: check-packages
	@$(call attacked,$(SANITIZED),$(SANITIZERS))

check-sanitizers: sanitized
	$(call suite,$(SANITIZED),$(ASAN),$(WITHOUT_LEAKS),tests/core tests/bindings tests/tasks \
	  tests/scripts/roper/arguments_spec.lua)

# The objects of the core are those of check-sanitizers.
COLLECTED := $(BUILD)/collected
COLLECTED_SPECS := $(addprefix tests/bindings/,create_spec.lua coroutine_spec.lua interrupt_spec.lua \
  json_spec.lua) tests/core/tensor tests/core/optimizer
check-collector: sanitized
	rm -rf $(COLLECTED) && cp -a $(SANITIZED) $(COLLECTED)
	rm -r $(COLLECTED)/bindings $(COLLECTED)/roper
	@$(call attacked,$(COLLECTED),$(SANITIZERS),\
	  CPPFLAGS='-D_GNU_SOURCE= -include tests/fixtures/collect_always.h')
	$(call suite,$(COLLECTED),$(ASAN),$(WITHOUT_LEAKS),$(COLLECTED_SPECS))

# Other kernels and threads that wait for each other would take long.
check-valgrind: check-packages
	OMP_NUM_THREADS=1 OPENBLAS_CORETYPE=Haswell ROPER_KERNELS=x86-64-v3 \
	  valgrind --quiet --error-exitcode=1 lua5.4 roper tests/sample.lua

# gcc's OpenMP runtime is replaced by LLVM's, which offers the same functions and reports barriers
# to ThreadSanitizer by libarcher. Programs that specs start run without them. It must find a race.
THREADED := $(BUILD)/threaded
ARCHER = $(lastword $(sort $(wildcard /usr/lib/llvm-*/lib/libarcher.so)))
TSAN = LD_PRELOAD=$(shell $(CC) -print-file-name=libtsan.so):$(dir $(ARCHER))libomp.so.5 \
  OMP_TOOL_LIBRARIES=$(ARCHER) OMP_NUM_THREADS=3 TSAN_OPTIONS=ignore_noninstrumented_modules=1
THREADED_SPECS := tests/core/ops tests/core/tensor tests/core/optimizer
RACE = env $(TSAN) lua5.4 -e 'assert(package.loadlib("$(THREADED)/race.so", "luaopen_$(1)"))()'
check-threads: check-packages
	@$(call attacked,$(THREADED),-fsanitize=thread,MPI=0 CPPFLAGS=-DRP_ALWAYS_PARALLEL)
	$(CC) $(INCLUDES) -g -fopenmp -fPIC -fsanitize=thread -shared -o $(THREADED)/race.so \
	  tests/fixtures/race.c
	$(call RACE,fine)
	! $(call RACE,racy) 2>$(THREADED)/race.txt
	grep -q 'data race.*race.c:9' $(THREADED)/race.txt
	$(call suite,$(THREADED),$(TSAN),os_unsetenv("LD_PRELOAD"),$(THREADED_SPECS))

TIDY = clang-tidy --quiet $(1) -- -std=c11 -fopenmp -I. $(DEFINES) $(INCLUDES) $(2)
check-tidy: check-packages
	$(call TIDY,$(SOURCES))
	$(call TIDY,core/kernels/float.c core/kernels/products.c,-DREAL_IS_FLOAT=1 \
	  -DROUNDS_OPERANDS=0 -DRP_TABLE=rp_kernels_float32)

# The readers of files are compiled by clang for libFuzzer and linked with the objects of gcc.
FUZZ := $(BUILD)/fuzz
FUZZ_FLAGS := -O1 -g -std=c11 -I. -DRP_POOL_NONE -fno-sanitize-recover=undefined -MMD -MP
FUZZ_READERS := $(addprefix $(FUZZ)/,json npy safetensors tokens)
FUZZ_SOURCES := $(filter-out core/base/machine.c,$(wildcard core/base/*.c core/tensor/*.c)) \
                tasks/corpus.c tests/fuzz/readers/reader.c
FUZZ_OBJECTS := $(FUZZ_SOURCES:%.c=$(FUZZ)/%.o)
# Each commit tries other input, and the same again.
SEED ?= $(or $(shell git log -1 --format=%ct 2>/dev/null),1)
check-fuzz: check-packages
	@$(MAKE) --no-print-directory -j $(FUZZ_READERS)
	lua5.4 tests/fuzz/main.lua $(SEED)

$(FUZZ)/%.o: %.c | libraries
	@mkdir -p $(@D)
	clang $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link,address,undefined $(filter-out -l% -L%,$(PKG)) -c -o $@ $<

$(FUZZ_READERS): $(FUZZ)/%: $(FUZZ)/tests/fuzz/readers/%.o $(FUZZ_OBJECTS) $(LIBRARY_OBJECTS)
	clang -fsanitize=fuzzer,address,undefined -o $@ $< $(FUZZ_OBJECTS) $(filter-out \
	  $(FUZZ_SOURCES:%.c=$(BUILD)/%.o),$(LIBRARY_OBJECTS)) $(LIBRARIES) -lgomp

# FAULTS='step lua once' runs one part.
check-faults: check-packages
	lua5.4 tests/faults/main.lua $(SEED) $(FAULTS)

check-kills: check-packages
	./roper tests/kills/main.lua 500 $(SEED)
