# make wheel        write roper for any Linux with glibc 2.27, as a Python package (wheel) and as an
#                   archive that is unpacked anywhere, to build/wheel; ARCH=aarch64: for arm64
# make check-wheel  try both in old systems, as a user without rights; as root
#
# Only roper is compiled. The static libraries are those of Debian 12, and have no version of glibc
# in them, like the objects of gcc: the linker chooses it. A symbol that this glibc lacks is an error
# of the linker.

ARCH := x86_64
GLIBC := 2.27
WHEEL := $(BUILD)/wheel
WHEEL_NAME = roper-$(VERSION)-py3-none-manylinux_$(subst .,_,$(GLIBC))_$(ARCH).whl
WHEEL_ARCHIVE = roper-$(VERSION)-linux-$(ARCH).tar.gz
TRIPLE := $(ARCH)-linux-gnu
WHEEL_ARCH := $(WHEEL)/$(ARCH)
STAGE := $(WHEEL_ARCH)/debian
STAGED_LIBS := $(STAGE)/usr/lib/$(TRIPLE)
TREE := $(WHEEL_ARCH)/tree
TREE_OWN := $(TREE)/libexec/roper
DEBIAN_ARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,amd64,$(ARCH)))
WHEEL_PACKAGES := ca-certificates patchelf python3-venv $(if $(filter $(shell uname -m),$(ARCH)),,\
  gcc-$(TRIPLE) libc6-dev-$(DEBIAN_ARCH)-cross)
PARTS := MPI=0 PCRE2=1 BLAS=openblas
ZIG = $(WHEEL)/tools/bin/python -m ziglang cc -target $(TRIPLE).$(GLIBC)

.PHONY: wheel objects check-wheel
wheel:
	@$(call deps,$(BUILD_PACKAGES) $(INSTALL_PACKAGES) $(WHEEL_PACKAGES))
	@$(fetch_lua)
	@$(MAKE) --no-print-directory -j KERNELS_FOR=native all $(MANUAL)
	@$(MAKE) --no-print-directory $(PARTS) $(STAGE)
	@$(MAKE) --no-print-directory -j $(PARTS) BUILD=$(WHEEL_ARCH)/objects CC=$(TRIPLE)-gcc PKG="$(STAGED_FLAGS)" objects
	@$(MAKE) --no-print-directory $(PARTS) CC=$(TRIPLE)-gcc $(WHEEL)/$(WHEEL_NAME) $(WHEEL)/$(WHEEL_ARCHIVE)

objects: $(OBJECTS)

$(WHEEL)/tools: bindings/wheel/requirements.txt
	python3 -m venv --clear $@
	$@/bin/pip install --quiet --require-hashes --no-deps -r $<
	@touch $@

# The packages are unpacked, not installed, by an apt that knows this architecture alone.
STAGED := libuv1-dev lua-luv-dev liblua5.4-dev libjansson-dev libopenblas-openmp-dev libpcre2-dev lua-readline lua-argparse
STAGE_APT = apt-get -q -o APT::Architecture=$(DEBIAN_ARCH) -o APT::Architectures=$(DEBIAN_ARCH) \
  -o Dir::State=$(abspath $@.apt) -o Dir::Cache=$(abspath $@.apt) -o Dir::State::status=/dev/null \
  -o Dir::Etc::sourcelist=$(abspath bindings/wheel/debian.list) -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=
$(STAGE): bindings/wheel/debian.list bindings/wheel/wheel.mk
	@rm -rf $@ $@.apt && mkdir -p $@ $@.apt/lists/partial $@.apt/archives/partial
	$(STAGE_APT) update
	cd $@.apt && $(STAGE_APT) download $(STAGED)
	for package in $@.apt/*.deb; do dpkg -x $$package $@ || exit 1; done
	@rm -r $@.apt && touch $@

STAGED_FLAGS = $(foreach folder,include/lua5.4 include/$(TRIPLE) include/$(TRIPLE)/openblas-openmp include,\
  -isystem $(abspath $(STAGE))/usr/$(folder))
# gcc's own folder, with libgomp.a and libgcc.a.
GCC_LIBS = $(dir $(shell $(TRIPLE)-gcc -print-libgcc-file-name))

# Lua's interpreter is compiled from its source; its headers are Debian's, like its library.
$(WHEEL_ARCH)/main.o: bindings/wheel/main.c bindings/wheel/wheel.mk
	@mkdir -p $(@D)/lua && cp $(LUA_SOURCES)/lua.c $(LUA_SOURCES)/lprefix.h $(@D)/lua
	$(TRIPLE)-gcc -std=gnu11 -O2 -Wall -Wextra -DLUA_USE_LINUX -DLUA_COMPAT_5_3 $(STAGED_FLAGS) \
	  -I$(@D)/lua -c -o $@ $<

# The linker knows no second names of variables of glibc: environ would be a copy that is never set.
# On 64-bit Linux, fcntl64, which glibc has from 2.28 on, is fcntl.
$(WHEEL_ARCH)/libuv.a: $(STAGE)
	$(TRIPLE)-objcopy --redefine-sym environ=__environ --redefine-sym fcntl64=fcntl $(STAGED_LIBS)/libuv_a.a $@

# These archives are compiled for programs, not for shared libraries: the module uses the functions
# of the program.
PROGRAM_ARCHIVES = $(STAGED_LIBS)/liblua5.4.a $(GCC_LIBS)libgomp.a $(STAGED_LIBS)/libjansson.a \
  $(STAGED_LIBS)/libpcre2-8.a
$(WHEEL_ARCH)/roper: $(WHEEL_ARCH)/main.o $(WHEEL_ARCH)/libuv.a $(WHEEL)/tools
	$(ZIG) -s -rdynamic -o $@ $(WHEEL_ARCH)/main.o \
	  -Wl,--whole-archive $(PROGRAM_ARCHIVES) -Wl,--no-whole-archive $(STAGED_LIBS)/liblua5.4-luv.a \
	  $(WHEEL_ARCH)/libuv.a $(GCC_LIBS)libgcc.a -lpthread -ldl -lm
	bindings/wheel/symbols.sh $@ $(GLIBC)

# The name of OpenBLAS's kernels is looked up weakly, which takes nothing out of an archive.
MODULE_OBJECTS = $(OBJECTS:$(BUILD)/%=$(WHEEL_ARCH)/objects/%)
$(WHEEL_ARCH)/native.so: $(MODULE_OBJECTS) $(STAGE) $(WHEEL)/tools
	$(ZIG) -s -shared -Wl,-z,nodelete -Wl,--gc-sections -Wl,-Bsymbolic -Wl,-u,openblas_get_corename \
	  -o $@ $(MODULE_OBJECTS) $(STAGED_LIBS)/openblas-openmp/libopenblas.a $(GCC_LIBS)libgcc.a \
	  -lpthread -ldl -lm
	bindings/wheel/symbols.sh $@ $(GLIBC)

# The program loads the system's readline, whichever version it has.
$(WHEEL_ARCH)/C-readline.so: $(STAGE)
	patchelf --remove-needed libreadline.so.8 --output $@ $(STAGED_LIBS)/lua/5.4/C-readline.so
	bindings/wheel/symbols.sh $@ $(GLIBC)

# make install, below libexec/roper; what other programs look for is beside it.
TREE_PLACES = prefix=$(abspath $(TREE_OWN)) luadir=$(abspath $(TREE_OWN))/share/lua/5.4 \
  moduledir=$(abspath $(TREE_OWN))/lib/lua/5.4 bindir=$(abspath $(TREE_OWN))/bin libdir=$(abspath $(TREE_OWN))/lib
STAGED_DOCS = $(STAGE)/usr/share/doc
.PHONY: tree
tree: $(WHEEL_ARCH)/roper $(WHEEL_ARCH)/native.so $(WHEEL_ARCH)/C-readline.so
	rm -rf $(TREE) && mkdir -p $(TREE)/bin $(TREE)/share/jupyter/kernels/roper $(TREE)/share/doc/roper
	lua5.4 scripts/packaging/install.lua install parts=program destdir= $(TREE_PLACES) \
	  build=$(BUILD) version=$(VERSION)
	rm $(TREE_OWN)/share/roper/installed
	mv $(TREE_OWN)/share/man $(TREE_OWN)/share/bash-completion $(TREE)/share
	cp $(WHEEL_ARCH)/roper $(TREE)/bin
	cp $(WHEEL_ARCH)/native.so $(TREE_OWN)/lib/lua/5.4/roper
	cp $(WHEEL_ARCH)/C-readline.so $(TREE_OWN)/lib/lua/5.4
	cp $(STAGE)/usr/share/lua/5.4/argparse.lua $(STAGE)/usr/share/lua/5.4/readline.lua $(TREE_OWN)/share/lua/5.4
	cp bindings/wheel/kernel.json bindings/wheel/kernel.py $(TREE)/share/jupyter/kernels/roper
	cp LICENSE $(TREE)/share/doc/roper/LICENSE
	for package in $(STAGED); do \
	  cp $(STAGED_DOCS)/$$package/copyright $(TREE)/share/doc/roper/$$package || exit 1; done
	cp /usr/share/doc/gcc-12-base/copyright $(TREE)/share/doc/roper/libgomp
	cp /usr/share/common-licenses/GPL-3 $(TREE)/share/doc/roper/GPL-3

$(WHEEL)/$(WHEEL_NAME): tree
	bindings/wheel/pack.py $(TREE) $(VERSION) $@
	$(WHEEL)/tools/bin/auditwheel show $@ | tee $(WHEEL_ARCH)/auditwheel.txt
	tr '\n' ' ' <$(WHEEL_ARCH)/auditwheel.txt | grep -q '"manylinux_$(subst .,_,$(GLIBC))_$(ARCH)"'

$(WHEEL)/$(WHEEL_ARCHIVE): tree
	tar -C $(TREE) --transform 's|^\.|roper-$(VERSION)|' --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner \
	  --mode=u+w,go-w -c . | gzip -9 -n >$@

# Old systems, each with another C library, readline and Python.
OLD_SYSTEMS := bullseye bionic
WHEEL_OUT := $(or $(ROOTS),/var/tmp/roper-roots)/out
CHECKPOINT := train copy position=roper preset=smoke seed=1 steps=60 checkpoint_every=20 --threads 2
check-wheel: wheel
	@$(call deps,debootstrap)
	rm -rf $(WHEEL_ARCH)/check && mkdir -p $(WHEEL_ARCH)/check $(WHEEL_OUT)
	cd $(WHEEL_ARCH)/check && $(abspath roper) $(CHECKPOINT)
	cd $(WHEEL_ARCH)/check/runs/copy-roper-1 && sha256sum checkpoint.safetensors >$(WHEEL_OUT)/checkpoint.sha256
	rm -f $(WHEEL_OUT)/roper-*.whl $(WHEEL_OUT)/roper-*.tar.gz
	cp $(WHEEL)/$(WHEEL_NAME) $(WHEEL)/$(WHEEL_ARCHIVE) $(WHEEL)/tools/bin/uv /etc/ssl/certs/ca-certificates.crt \
	  $(WHEEL_OUT)
	for system in $(OLD_SYSTEMS); do \
	  PACKAGES="python3-venv python3-pip" tests/systems/root.sh $$system tests/systems/wheel.sh || exit 1; done
