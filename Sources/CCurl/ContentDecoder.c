// SPDX-License-Identifier: MIT

#define _GNU_SOURCE 1
#include "ContentDecoder.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

// The necessary declarations from the headers of the libraries. All of them are part of stable binary interfaces.

typedef struct {
    const uint8_t *next_in;
    unsigned available_in;
    unsigned long total_in;
    uint8_t *next_out;
    unsigned available_out;
    unsigned long total_out;
    const char *message;
    void *state, *allocate, *release, *opaque;
    int data_type;
    unsigned long checksum, reserved;
} zlib_stream;

typedef struct {
    const void *bytes;
    size_t size, position;
} zstd_input;

typedef struct {
    void *bytes;
    size_t size, position;
} zstd_output;

enum { zlib_ok = 0, zlib_end = 1, zlib_no_progress = -5 };
enum { brotli_error = 0, brotli_end = 1 };
/// The option ZSTD_d_windowLogMax and its value: RFC 9659 limits the window of this coding to 8 MB.
enum { zstd_window_option = 100, zstd_window_bits = 23 };

static struct {
    int (*inflate_begin)(zlib_stream *, int, const char *, int);
    int (*inflate)(zlib_stream *, int);
    int (*inflate_again)(zlib_stream *, int);
    int (*inflate_end)(zlib_stream *);
    void *(*brotli_create)(void *, void *, void *);
    void (*brotli_destroy)(void *);
    int (*brotli_run)(void *, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *);
    void *(*zstd_create)(void);
    size_t (*zstd_destroy)(void *);
    size_t (*zstd_set)(void *, int, int);
    size_t (*zstd_run)(void *, zstd_output *, zstd_input *);
    unsigned (*zstd_is_error)(size_t);
} library;

static void *find(const char *file, const char *name) {
    void *symbol = dlsym(RTLD_DEFAULT, name);
    if (symbol != NULL) return symbol;
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    return handle == NULL ? NULL : dlsym(handle, name);
}

static void find_libraries(void) {
    const char *zlib = "libz.so.1", *brotli = "libbrotlidec.so.1", *zstd = "libzstd.so.1";
    *(void **)&library.inflate_begin = find(zlib, "inflateInit2_");
    *(void **)&library.inflate = find(zlib, "inflate");
    *(void **)&library.inflate_again = find(zlib, "inflateReset2");
    *(void **)&library.inflate_end = find(zlib, "inflateEnd");
    *(void **)&library.brotli_create = find(brotli, "BrotliDecoderCreateInstance");
    *(void **)&library.brotli_destroy = find(brotli, "BrotliDecoderDestroyInstance");
    *(void **)&library.brotli_run = find(brotli, "BrotliDecoderDecompressStream");
    *(void **)&library.zstd_create = find(zstd, "ZSTD_createDCtx");
    *(void **)&library.zstd_destroy = find(zstd, "ZSTD_freeDCtx");
    *(void **)&library.zstd_set = find(zstd, "ZSTD_DCtx_setParameter");
    *(void **)&library.zstd_run = find(zstd, "ZSTD_decompressStream");
    *(void **)&library.zstd_is_error = find(zstd, "ZSTD_isError");
}

int curlew_can_decode(int coding) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_libraries);
    switch (coding) {
    case CURLEW_GZIP:
    case CURLEW_DEFLATE:
        return library.inflate_begin && library.inflate && library.inflate_again && library.inflate_end;
    case CURLEW_BROTLI: return library.brotli_create && library.brotli_destroy && library.brotli_run;
    case CURLEW_ZSTD:
        return library.zstd_create && library.zstd_destroy && library.zstd_set && library.zstd_run
            && library.zstd_is_error;
    default: return 0;
    }
}

struct curlew_decoder {
    int coding;
    int has_begun;
    int is_complete;
    /// The first byte of a `deflate` body, until the second byte shows whether the body is in zlib format (RFC 1950).
    uint8_t first;
    int has_first;
    zlib_stream zlib;
    void *other;
};

enum { gzip_bits = 15 + 16, zlib_bits = 15, raw_bits = -15 };

curlew_decoder *curlew_decoder_create(int coding) {
    if (!curlew_can_decode(coding)) return NULL;
    curlew_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL) return NULL;
    decoder->coding = coding;
    int is_ready;
    if (coding == CURLEW_BROTLI) {
        decoder->other = library.brotli_create(NULL, NULL, NULL);
        is_ready = decoder->other != NULL;
    } else if (coding == CURLEW_ZSTD) {
        decoder->other = library.zstd_create();
        is_ready = decoder->other != NULL
            && !library.zstd_is_error(library.zstd_set(decoder->other, zstd_window_option, zstd_window_bits));
    } else {
        int bits = coding == CURLEW_GZIP ? gzip_bits : zlib_bits;
        is_ready = library.inflate_begin(&decoder->zlib, bits, "1.2.11", (int)sizeof decoder->zlib) == zlib_ok;
    }
    if (is_ready) return decoder;
    curlew_decoder_destroy(decoder);
    return NULL;
}

void curlew_decoder_destroy(curlew_decoder *decoder) {
    if (decoder == NULL) return;
    if (decoder->coding == CURLEW_BROTLI) {
        if (decoder->other != NULL) library.brotli_destroy(decoder->other);
    } else if (decoder->coding == CURLEW_ZSTD) {
        if (decoder->other != NULL) library.zstd_destroy(decoder->other);
    } else {
        library.inflate_end(&decoder->zlib);
    }
    free(decoder);
}

static unsigned bounded(size_t count) {
    return count > 1 << 30 ? 1 << 30 : (unsigned)count;
}

static int inflate_some(
    curlew_decoder *decoder, const uint8_t *input, size_t input_length, size_t *taken, uint8_t *output,
    size_t output_length, size_t *given) {
    zlib_stream *stream = &decoder->zlib;
    stream->next_in = input;
    stream->available_in = bounded(input_length);
    stream->next_out = output;
    stream->available_out = bounded(output_length);
    int result = library.inflate(stream, 0);
    *taken += (size_t)(stream->next_in - input);
    *given += (size_t)(stream->next_out - output);
    if (result == zlib_end) decoder->is_complete = 1;
    return result == zlib_ok || result == zlib_end || result == zlib_no_progress;
}

static int run_zlib(
    curlew_decoder *decoder, const uint8_t *input, size_t input_length, size_t *taken, uint8_t *output,
    size_t output_length, size_t *given) {
    if (decoder->is_complete) {
        if (input_length == 0) return 1;
        // Another gzip member may follow (RFC 1952 §2.2), or padding, which is ignored.
        if (decoder->coding == CURLEW_DEFLATE || input[0] != 0x1F) {
            *taken += input_length;
            return 1;
        }
        if (library.inflate_again(&decoder->zlib, gzip_bits) != zlib_ok) return 0;
        decoder->is_complete = 0;
    }
    if (decoder->coding == CURLEW_DEFLATE && !decoder->has_begun) {
        if (input_length == 0) return 1;
        if (!decoder->has_first) {
            decoder->first = input[0];
            decoder->has_first = 1;
            *taken += 1;
            return run_zlib(decoder, input + 1, input_length - 1, taken, output, output_length, given);
        }
        decoder->has_begun = 1;
        // Many servers omit the zlib format and send only the raw deflate data (RFC 1951).
        int is_zlib = (decoder->first & 0x0F) == 8 && (decoder->first * 256 + input[0]) % 31 == 0;
        if (!is_zlib && library.inflate_again(&decoder->zlib, raw_bits) != zlib_ok) return 0;
        size_t ignored = 0;
        if (!inflate_some(decoder, &decoder->first, 1, &ignored, output, output_length, given)) return 0;
        size_t more = *given;
        output += more;
        output_length -= more;
    }
    return inflate_some(decoder, input, input_length, taken, output, output_length, given);
}

int curlew_decoder_run(
    curlew_decoder *decoder, const uint8_t *input, size_t input_length, size_t *taken, uint8_t *output,
    size_t output_length, size_t *given) {
    if (decoder->coding == CURLEW_BROTLI) {
        if (decoder->is_complete) {
            *taken += input_length;
            return 1;
        }
        size_t left = input_length, room = output_length;
        const uint8_t *next = input;
        uint8_t *target = output;
        int result = library.brotli_run(decoder->other, &left, &next, &room, &target, NULL);
        *taken += input_length - left;
        *given += output_length - room;
        if (result == brotli_end) decoder->is_complete = 1;
        return result != brotli_error;
    }
    if (decoder->coding == CURLEW_ZSTD) {
        zstd_input in = {input, input_length, 0};
        zstd_output out = {output, output_length, 0};
        // After a complete frame, a run without input would request the next frame, and the coding would seem
        // incomplete.
        if (decoder->is_complete && input_length == 0) return 1;
        size_t result = library.zstd_run(decoder->other, &out, &in);
        *taken += in.position;
        *given += out.position;
        decoder->is_complete = result == 0;
        return !library.zstd_is_error(result);
    }
    return run_zlib(decoder, input, input_length, taken, output, output_length, given);
}

int curlew_decoder_is_complete(const curlew_decoder *decoder) {
    return decoder->is_complete;
}

#endif
