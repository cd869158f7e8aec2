# make            build for this machine
# make all        build for every machine
# make run        install packages, build, compare RoPE and RoPER
# make test       install packages, build all, run every test
# make lint       run formatters and linters; fails on any warning
# make results    compute numbers and figures of the studies from their runs; CHECK=1 compares them
# make bench      measure speed
# make docs       write reference pages to build/reference
# make fonts      install fonts for pages; pages that are written afterwards contain them
# make check      attack the program: all targets of tests/check.mk
# make install PREFIX=/usr/local DESTDIR=    make uninstall removes the same files; FORCE=1 replaces
#                 files that make install did not install
# make deb        build packages for Debian in build/deb
# make wheel      write packages for any Linux to build/wheel; see bindings/wheel/wheel.mk
# make dist       write build/roper-VERSION.tar.gz, from the last commit, and its checksum
# make MPI=1      build training by several processes (default if Open MPI is found); MPI=0: without
# make PCRE2=0    build without PCRE2, which splits texts for byte-level tokenizers (default: 1 if found)
# make BLAS=      compute matrix products without OpenBLAS; BLAS="-lblis -I..." links another library
MAKEFLAGS += --no-builtin-rules
PREFIX ?= /usr/local
LUADIR ?= $(PREFIX)/share/lua/5.4
MODULEDIR ?= $(PREFIX)/lib/lua/5.4
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
BUILD := build
VERSION = $(shell sed -n 's/^return "\(.*\)"$$/\1/p' scripts/roper/base/version.lua)
CC ?= cc
CFLAGS ?= -O3
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wvla \
            -Werror=implicit-function-declaration $(if $(CI),-Werror)

MPI ?= $(shell pkg-config --exists ompi-c 2>/dev/null && echo 1)
WITH_MPI := $(filter 1,$(MPI))

PCRE2 ?= $(shell pkg-config --exists libpcre2-8 && echo 1)
WITH_PCRE2 := $(filter 1,$(PCRE2))

# The library of matrix products: a package of pkg-config, or flags; none if this is empty.
BLAS ?= openblas

BUILD_PACKAGES := gcc make pkg-config lua5.4 liblua5.4-dev libjansson-dev lua-luv lua-argparse \
                  lua-readline librsvg2-bin $(if $(filter openblas,$(BLAS)),libopenblas-openmp-dev) \
                  $(if $(WITH_MPI),libopenmpi-dev openmpi-bin) \
                  $(if $(filter 0,$(PCRE2)),,libpcre2-dev)
INSTALL_PACKAGES := help2man
FONT_PACKAGES := lua5.4 fonts-sil-charis fonts-inter fonts-stix fonttools python3-brotli
TEST_PACKAGES := lua-busted python3 $(INSTALL_PACKAGES)
LINT_PACKAGES := lua-check clang-format cppcheck nodejs
DEB_PACKAGES := build-essential debhelper lintian

BLAS_FLAGS := $(if $(filter -%,$(firstword $(BLAS))),$(BLAS))
LIBS := lua5.4 $(if $(BLAS_FLAGS),,$(BLAS)) jansson $(if $(WITH_MPI),ompi-c) \
        $(if $(WITH_PCRE2),libpcre2-8)
PKG := $(shell pkg-config --cflags --libs $(LIBS) 2>/dev/null)
ALL_CFLAGS = -std=c11 -ffp-contract=fast -fno-math-errno -fno-trapping-math -fopenmp -fPIC -fvisibility=hidden \
             $(CPPFLAGS) $(CFLAGS) $(WARNINGS) $(DEFINES) -I. -MMD -MP \
             $(filter-out -l% -L%,$(PKG) $(BLAS_FLAGS))
DEFINES := -DRP_BLAS=$(if $(BLAS),1,0)
LIBRARIES = $(filter-out -llua5.4,$(filter -l% -L%,$(PKG) $(BLAS_FLAGS))) $(LDLIBS) -lm

MPI_SOURCES := $(wildcard core/parallel/*.c) bindings/ranks.c
SOURCES := $(filter-out $(if $(WITH_MPI),,$(MPI_SOURCES)) \
                        $(if $(WITH_PCRE2),,bindings/pattern.c), \
             $(wildcard core/base/*.c core/tensor/*.c core/graph/*.c core/position/*.c core/ops/*.c \
                        core/parallel/*.c core/optimizer/*.c tasks/*.c bindings/*.c) \
             core/kernels/loop.c core/kernels/integer.c core/kernels/select.c)
X86 := $(filter x86_64%,$(shell $(CC) -dumpmachine))
# Instruction sets for which kernels are built, and those for products with bfloat16 operands.
TARGETS := portable $(if $(X86),v3 v4)
BFLOAT16 := $(TARGETS) $(if $(X86),avx512bf16 amx)
# With KERNELS_FOR=native, only those that this machine uses or that were built before.
ifeq ($(KERNELS_FOR),native)
NATIVE := $(shell echo | $(CC) -march=native -dM -E - 2>/dev/null | cut -d ' ' -f 2)
has = $(if $(filter-out $(NATIVE),$(1)),,$(2))
V4 := $(call has,__AVX512F__ __AVX512BW__ __AVX512CD__ __AVX512DQ__ __AVX512VL__,v4)
V3 := $(call has,__AVX2__ __BMI__ __BMI2__ __F16C__ __FMA__ __LZCNT__ __MOVBE__,v3)
CHOSEN := $(firstword $(if $(X86),$(V4) $(V3)) portable)
CHOSEN += $(if $(V4),$(call has,__AVX512BF16__,avx512bf16) \
  $(call has,__AVX512BF16__ __AMX_TILE__ __AMX_BF16__,amx))
CHOSEN += $(patsubst $(BUILD)/products/%_bfloat16.o,%,$(wildcard $(BUILD)/products/*_bfloat16.o))
TARGETS := $(filter $(CHOSEN),$(TARGETS))
BFLOAT16 := $(filter $(CHOSEN),$(BFLOAT16))
endif
KERNELS := $(foreach t,$(TARGETS),$(foreach d,float32 float64,\
             $(BUILD)/kernels/$(t)_$(d).o $(BUILD)/products/$(t)_$(d).o)) \
           $(BFLOAT16:%=$(BUILD)/products/%_bfloat16.o)
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o) $(KERNELS)
FLAGS_v3 := -march=x86-64-v3
FLAGS_v4 := -march=x86-64-v4 -mprefer-vector-width=512
FLAGS_avx512bf16 := $(FLAGS_v4) -mavx512bf16
FLAGS_amx := $(FLAGS_avx512bf16) -mamx-tile -mamx-bf16
MODULE := $(BUILD)/roper/native.so
# Their names list the linked kernels, MPI and PCRE2, and BLAS: if these change, the module is linked again,
# and what calls BLAS is compiled again.
joined = $(subst /,-,$(subst $(eval) ,-,$(strip $(1))))
LINKED := $(BUILD)/linked-$(call joined,$(BFLOAT16) $(if $(WITH_MPI),mpi) \
  $(if $(WITH_PCRE2),pcre2))
CALLED := $(BUILD)/blas-$(call joined,$(BLAS))
# The C library, without what needs Lua or MPI.
LIBRARY := $(BUILD)/libroper.a
LIBRARY_OBJECTS := $(filter-out $(BUILD)/bindings/% $(BUILD)/core/parallel/%,$(OBJECTS))
MANUAL := $(BUILD)/roper.1
# Definitions that editors and ?name read.
DEFINITIONS := $(BUILD)/library/roper.lua

.PHONY: native all lib libraries deps fonts run test lint results bench docs install install-program \
        uninstall dist deb clean
native:
	@$(MAKE) --no-print-directory KERNELS_FOR=native all

all: $(MODULE) roper $(DEFINITIONS)

# nodelete: closing Lua must not unload code that OpenMP threads are still running.
$(MODULE): $(OBJECTS) $(LINKED) $(CALLED)
	@mkdir -p $(@D)
	$(CC) -shared -fopenmp -Wl,-z,nodelete $(LDFLAGS) -o $@.new $(OBJECTS) $(LIBRARIES)
	mv $@.new $@

$(LINKED) $(CALLED):
	@mkdir -p $(@D)
	@rm -f $(@D)/$(firstword $(subst -, ,$(@F)))-*
	@touch $@

$(filter $(BUILD)/products/%,$(KERNELS)) $(BUILD)/core/base/machine.o: $(CALLED)

# Without the flags of pkg-config, a file could be compiled against the header of another library.
libraries:
	@$(if $(PKG),:,echo "pkg-config does not find all of: $(LIBS). Please run: make $(if $(WITH_MPI),MPI=1 )deps" >&2; exit 1)

$(BUILD)/%.o: %.c | libraries
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

# One source is compiled for each dtype and instruction set: portable_float32.o ... v4_float64.o.
# products.c is also compiled with operands rounded to bfloat16: portable_bfloat16.o ...
# amx_bfloat16.o.
$(BUILD)/kernels/%.o: core/kernels/float.c | libraries
	$(compile_body)

$(BUILD)/products/%.o: core/kernels/products.c | libraries
	$(compile_body)

# Without this option, which Clang lacks, gcc 12 keeps a row of B on the stack in the innermost loop.
REGISTERS := $(shell $(CC) -fira-region=all -E -x c /dev/null >/dev/null 2>&1 && echo -fira-region=all)
define compile_body
@mkdir -p $(@D)
$(CC) $(ALL_CFLAGS) $(REGISTERS) $(FLAGS_$(firstword $(subst _, ,$*))) -DREAL_IS_FLOAT=$(if $(findstring float64,$*),0,1) \
  -DROUNDS_OPERANDS=$(if $(findstring bfloat16,$*),1,0) -DRP_TABLE=rp_$(notdir $(@D))_$* -c -o $@ $<
endef

roper: scripts/launcher.lua Makefile
	cp $< $@ && chmod +x $@

$(DEFINITIONS): $(MODULE) roper $(wildcard bindings/*.c tasks/*.c core/kernels/operation/*.h) $(shell find scripts/roper -name "*.lua")
	./roper -e 'require("roper.workbench.help.stubs").write "$(@D)"'

# One object, because a linker would not take the kernels, to which select.c has weak references,
# out of an archive.
lib: $(LIBRARY)

$(LIBRARY): $(LIBRARY_OBJECTS)
	@rm -rf $(BUILD)/library-$$$$ && mkdir $(BUILD)/library-$$$$ && \
	$(CC) -r -nostdlib -o $(BUILD)/library-$$$$/roper.o $^ && \
	ar rcsD $(BUILD)/library-$$$$/libroper.a $(BUILD)/library-$$$$/roper.o && \
	mv $(BUILD)/library-$$$$/libroper.a $@ && rm -r $(BUILD)/library-$$$$

$(MANUAL): $(MODULE) roper scripts/packaging/manual.h2m scripts/roper/base/version.lua \
           $(wildcard scripts/roper/workbench/session/*.lua)
	@command -v help2man >/dev/null || { echo "help2man, which writes the manual page, is missing. Please run: make deps" >&2; exit 1; }
	@help2man --no-info --name "workbench for rotary position encodings" \
	  --include scripts/packaging/manual.h2m --output $@ ./roper

fonts:
	@$(call deps,$(FONT_PACKAGES))
	@mkdir -p $(BUILD)/library
	lua5.4 scripts/packaging/fonts.lua $(BUILD)/library/fonts.css

docs: all
	./roper -e 'require("roper.workbench.help.reference").write "$(BUILD)/reference"'

# Install missing packages: as root or with sudo, otherwise print the command to run.
deps = missing=$$(for p in $(1); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null \
         | grep -q 'ok installed' || echo $$p; done); \
       if [ -n "$$missing" ]; then \
         if [ "$$(id -u)" = 0 ]; then as=; elif command -v sudo >/dev/null; then as=sudo; \
         else echo "Please run as root: apt-get install -y --no-install-recommends $$missing" >&2; exit 1; fi; \
         $$as apt-get update -q && $$as env DEBIAN_FRONTEND=noninteractive \
           apt-get install -q -y --no-install-recommends $$missing; fi

deps:
	@$(call deps,$(BUILD_PACKAGES) $(INSTALL_PACKAGES))

run:
	@$(call deps,$(BUILD_PACKAGES))
	@$(MAKE) --no-print-directory -j
	env -u OPENBLAS_CORETYPE ./roper study

test:
	@$(call deps,$(BUILD_PACKAGES) $(TEST_PACKAGES))
	@$(MAKE) --no-print-directory -j all
	@lua5.4 tests/main.lua "--busted=busted --exclude-tags=long"

C_FILES = $(shell find core tasks bindings tests -name '*.[ch]')
JS_FILES = $(shell find bindings scripts tests -name '*.mjs' -o -name '*.js')
lint:
	@$(call deps,$(BUILD_PACKAGES) $(LINT_PACKAGES))
	@clang-format --dry-run --Werror $(C_FILES) $(JS_FILES)
	@for file in $(JS_FILES); do node --check $$file || exit 1; done
	cppcheck -j "$$(nproc)" --quiet --std=c11 --enable=warning,performance,portability \
	  --inline-suppr --error-exitcode=1 --suppress=missingIncludeSystem \
	  --library=.cppcheck.cfg -I. core tasks bindings
	luacheck --quiet bindings scripts tests

results:
	@$(call deps,$(BUILD_PACKAGES))
	@$(MAKE) --no-print-directory -j
	@./roper scripts/experiments/record/results.lua $(if $(CHECK),check)

bench:
	@$(call deps,$(BUILD_PACKAGES))
	@$(MAKE) --no-print-directory -j all
	./roper tests/bench/main.lua $(ARGS)

define LINE_BREAK


endef
# A variable as one word of the shell.
quoted = $(if $(findstring $(LINE_BREAK),$($(1))),$(error $(1): expected a path without a line \
break),'$(subst ','\'',$($(1)))')
PLACES = destdir=$(call quoted,DESTDIR) prefix=$(call quoted,PREFIX)
define install_files
@$(if $(DESTDIR),mkdir -p $(call quoted,DESTDIR))
lua5.4 scripts/packaging/install.lua install $(PLACES) luadir=$(call quoted,LUADIR) \
  moduledir=$(call quoted,MODULEDIR) bindir=$(call quoted,BINDIR) libdir=$(call quoted,LIBDIR) \
  build=$(BUILD) version=$(VERSION) force=$(call quoted,FORCE) \
  requires="$(filter-out lua5.4 ompi-c libpcre2-8,$(LIBS))" libs="$(filter -l% -L%,$(BLAS_FLAGS))"
endef

install: all $(LIBRARY) $(MANUAL)
	$(install_files)

# For luarocks.
install-program: all $(MANUAL)
	$(install_files) parts=program

uninstall:
	lua5.4 scripts/packaging/install.lua uninstall $(PLACES)

# The same bits for the same commit.
ARCHIVE = roper-$(VERSION).tar.gz
dist:
	@mkdir -p $(BUILD)
	git archive --prefix=roper-$(VERSION)/ HEAD | gzip -9 -n > $(BUILD)/$(ARCHIVE)
	cd $(BUILD) && sha256sum $(ARCHIVE) > $(ARCHIVE).sha256

DEB := $(BUILD)/deb
deb: dist
	@$(call deps,$(BUILD_PACKAGES) $(INSTALL_PACKAGES) $(DEB_PACKAGES))
	rm -rf $(DEB) && mkdir -p $(DEB)
	tar -xzf $(BUILD)/$(ARCHIVE) -C $(DEB)
	cp -r $(DEB)/roper-$(VERSION)/scripts/packaging/debian $(DEB)/roper-$(VERSION)/debian
	cd $(DEB)/roper-$(VERSION) && env -u MAKEFLAGS -u MAKELEVEL dpkg-buildpackage --build=binary \
	  --no-sign
	lintian --fail-on error,warning --info $(DEB)/*.changes

clean:
	rm -rf $(BUILD) roper

include tests/check.mk bindings/web/web.mk bindings/wheel/wheel.mk
-include $(OBJECTS:.o=.d) $(FUZZ_OBJECTS:.o=.d)
