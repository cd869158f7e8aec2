# make deps-web   install what make web needs; download and check the sources of Lua and jansson
# make web        write the workbench as a folder of static pages to build/web
# make web-single  also write each page to build/web-single, as one file that works without a server
# make test-web   test it in Node.js and Chromium

WEB := $(BUILD)/web
WASM := $(BUILD)/wasm
WEB_PACKAGES := make ca-certificates clang-16 lld-16 wasi-libc libclang-rt-16-dev-wasm32 nodejs brotli lua-argparse
WEB_TEST_PACKAGES := lua-busted chromium
LUA_SOURCES := $(WASM)/lua-5.4.4/src
JANSSON_SOURCES := $(WASM)/jansson-2.14/src

# An upstream source of Debian: fetch(path in the pool, SHA256)
fetch = mkdir -p $(WASM) && test -f $(WASM)/$(notdir $(1)) || \
  /usr/lib/apt/apt-helper download-file http://deb.debian.org/debian/pool/main/$(1) $(WASM)/$(notdir $(1)) SHA256:$(2) && \
  tar -C $(WASM) -xzf $(WASM)/$(notdir $(1))

fetch_lua = $(call fetch,l/lua5.4/lua5.4_5.4.4.orig.tar.gz,164c7849653b80ae67bec4b7473b884bf5cc8d2dca05653475ec2ed27b9ebf61)

.PHONY: deps-web web web-single test-web
deps-web:
	@$(call deps,$(WEB_PACKAGES) $(WEB_TEST_PACKAGES))
	@$(fetch_lua)
	@$(call fetch,j/jansson/jansson_2.14.orig.tar.gz,c739578bf6b764aa0752db9a2fdadcfe921c78f1228c7ec0bb47fa804c55d17b)

WASM_CC := clang-16
SYSROOT := /usr
WASM_FLAGS = --target=wasm32-wasi -std=gnu11 -O3 -msimd128 -mbulk-memory -mnontrapping-fptoint -msign-ext \
  -nostdlibinc -Ibindings/web/include -isystem $(SYSROOT)/include/wasm32-wasi -I. -I$(LUA_SOURCES) -I$(JANSSON_SOURCES) \
  -fopenmp-simd -ffp-contract=fast -fno-math-errno -fno-trapping-math -fvisibility=hidden \
  -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_GETPID -D_WASI_EMULATED_PROCESS_CLOCKS -DRP_BLAS=0 \
  $(WARNINGS) -Wno-pass-failed -Wno-unused-variable -Wno-gnu-statement-expression-from-macro-expansion -MMD -MP

WASM_SOURCES := $(filter-out core/parallel/% bindings/pattern.c bindings/ranks.c bindings/readline.c bindings/signal.c core/base/system_linux.c,$(SOURCES)) \
  $(wildcard bindings/web/*.c)
WASM_LUA := $(filter-out lua luac,$(basename $(notdir $(wildcard $(LUA_SOURCES)/*.c))))
WASM_JANSSON := $(basename $(notdir $(wildcard $(JANSSON_SOURCES)/*.c)))
WASM_KERNELS := $(foreach d,float32 float64,$(WASM)/kernels/portable_$(d).o $(WASM)/products/portable_$(d).o) \
  $(WASM)/products/portable_bfloat16.o
WASM_OBJECTS := $(WASM_SOURCES:%.c=$(WASM)/%.o) $(WASM_KERNELS) $(WASM_LUA:%=$(WASM)/lua/%.o) \
  $(WASM_JANSSON:%=$(WASM)/jansson/%.o)

$(WASM)/roper.wasm: $(WASM_OBJECTS)
	wasm-ld-16 -m wasm32 -o $@ --no-entry -z stack-size=8388608 --stack-first --export=_initialize \
	  --max-memory=4294967296 --gc-sections --strip-all \
	  $(SYSROOT)/lib/wasm32-wasi/crt1-reactor.o $^ -L$(SYSROOT)/lib/wasm32-wasi \
	  -lwasi-emulated-signal -lwasi-emulated-getpid -lwasi-emulated-process-clocks -lm -lc \
	  $(shell $(WASM_CC) -print-resource-dir)/lib/wasi/libclang_rt.builtins-wasm32.a

$(WASM)/%.o: %.c
	@mkdir -p $(@D)
	$(WASM_CC) $(WASM_FLAGS) -c -o $@ $<

$(WASM)/kernels/%.o: core/kernels/float.c
	$(compile_wasm_body)

$(WASM)/products/%.o: core/kernels/products.c
	$(compile_wasm_body)

define compile_wasm_body
@mkdir -p $(@D)
$(WASM_CC) $(WASM_FLAGS) -DREAL_IS_FLOAT=$(if $(findstring float64,$*),0,1) \
  -DROUNDS_OPERANDS=$(if $(findstring bfloat16,$*),1,0) -DRP_TABLE=rp_$(notdir $(@D))_$* -c -o $@ $<
endef

# The file that calls setjmp, and the one that throws.
$(WASM)/lua/ldo.o $(WASM)/bindings/web/jump.o: WASM_FLAGS += -mexception-handling -mllvm -wasm-enable-sjlj

$(WASM)/lua/%.o: $(LUA_SOURCES)/%.c
	@mkdir -p $(@D)
	$(WASM_CC) $(WASM_FLAGS) -w -include lua_page.h -c -o $@ $<

# A loop of Lua code must look at the clock now and then. A count hook would double its time.
$(WASM)/lua/lvm.o: $(LUA_SOURCES)/lvm.c
	@mkdir -p $(@D)
	sed 's/^\(#define updatetrap(ci)  (\)\(trap = ci->u.l.trap)\)$$/\1rpw_poll(L), \2/' $< > $(WASM)/lua/lvm.c
	grep -q 'rpw_poll(L), trap' $(WASM)/lua/lvm.c
	$(WASM_CC) $(WASM_FLAGS) -w -include lua_page.h -c -o $@ $(WASM)/lua/lvm.c

$(WASM)/jansson/%.o: $(JANSSON_SOURCES)/%.c
	@mkdir -p $(@D)
	$(WASM_CC) $(WASM_FLAGS) -w -DHAVE_CONFIG_H -c -o $@ $<

# The sources of Lua are found when make starts: start it again, after deps-web.
web web-single:
	@$(MAKE) --no-print-directory $(WASM)/roper.wasm
	node bindings/web/build.mjs $(WASM)/roper.wasm $(WEB) /usr/share/lua/5.4/argparse.lua $(if $(filter web-single,$@),$(BUILD)/web-single)

WEB_TESTS := $(wildcard tests/web/*.test.mjs)
.PHONY: $(WEB_TESTS)
test-web: web-single
	@$(call deps,$(WEB_TEST_PACKAGES))
	@$(MAKE) --no-print-directory -j 2 --output-sync $(WEB_TESTS)
	node tests/web/specs.mjs

$(WEB_TESTS):
	node --test $@

-include $(WASM_OBJECTS:.o=.d)
