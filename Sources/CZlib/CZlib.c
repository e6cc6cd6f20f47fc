// SPDX-License-Identifier: MIT

#include "CZlib.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

struct curlew_deflate {
    z_stream stream;
};

int curlew_deflate_run(
    curlew_deflate *deflater, const uint8_t *input, size_t length, size_t *taken, uint8_t *output, size_t room,
    size_t *written) {
    static uint8_t nothing;
    uInt most_input = length > UINT_MAX ? UINT_MAX : (uInt)length;
    uInt most_output = room > UINT_MAX ? UINT_MAX : (uInt)room;
    *taken = *written = 0;
    deflater->stream.next_in = (Bytef *)(input == NULL ? &nothing : input);
    deflater->stream.avail_in = most_input;
    deflater->stream.next_out = output;
    deflater->stream.avail_out = most_output;
    // Only the last piece of the input ends it.
    int result = deflate(&deflater->stream, most_input < length ? Z_NO_FLUSH : Z_SYNC_FLUSH);
    *taken = most_input - deflater->stream.avail_in;
    *written = most_output - deflater->stream.avail_out;
    deflater->stream.next_in = NULL;
    deflater->stream.next_out = NULL;
    // Z_BUF_ERROR says that there was nothing to do.
    if (result != Z_OK && result != Z_BUF_ERROR) return -1;
    if (*taken < length || deflater->stream.avail_out == 0) return 0;
    return 1;
}

void curlew_deflate_free(curlew_deflate *deflater) {
    if (deflater == NULL) return;
    deflateEnd(&deflater->stream);
    free(deflater);
}

curlew_deflate *curlew_deflate_create(int level, int bits) {
    curlew_deflate *deflater = calloc(1, sizeof(curlew_deflate));
    if (deflater == NULL) return NULL;
    // A negative window means raw deflate. zlib has no window of 8 bits; without matches, none is needed.
    int strategy = bits < 9 ? Z_HUFFMAN_ONLY : Z_DEFAULT_STRATEGY;
    if (deflateInit2(&deflater->stream, level, Z_DEFLATED, bits < 9 ? -9 : -bits, 8, strategy) != Z_OK) {
        free(deflater);
        return NULL;
    }
    return deflater;
}

void curlew_deflate_reset(curlew_deflate *deflater) {
    deflateReset(&deflater->stream);
}

struct curlew_inflate {
    z_stream stream;
    // What zlib said about its place in the data after the last call that consumed or produced something. A call
    // without either forgets that a block has ended.
    int place;
};

curlew_inflate *curlew_inflate_create(int bits) {
    curlew_inflate *inflate = calloc(1, sizeof(curlew_inflate));
    if (inflate == NULL) return NULL;
    if (inflateInit2(&inflate->stream, -bits) != Z_OK) {
        free(inflate);
        return NULL;
    }
    return inflate;
}

int curlew_inflate_run(
    curlew_inflate *inflater, const uint8_t *input, size_t length, size_t *taken, uint8_t *output, size_t room,
    size_t *written) {
    static uint8_t nothing;
    uInt most_input = length > UINT_MAX ? UINT_MAX : (uInt)length;
    uInt most_output = room > UINT_MAX ? UINT_MAX : (uInt)room;
    inflater->stream.next_in = (Bytef *)(input == NULL ? &nothing : input);
    inflater->stream.avail_in = most_input;
    inflater->stream.next_out = output;
    inflater->stream.avail_out = most_output;
    int result = inflate(&inflater->stream, Z_SYNC_FLUSH);
    *taken = most_input - inflater->stream.avail_in;
    *written = most_output - inflater->stream.avail_out;
    if (*taken > 0 || *written > 0) inflater->place = inflater->stream.data_type;
    inflater->stream.next_in = NULL;
    inflater->stream.next_out = NULL;
    if (result == Z_STREAM_END) return 1;
    // Z_BUF_ERROR says that there was nothing to do.
    return result == Z_OK || result == Z_BUF_ERROR ? 0 : -1;
}

int curlew_inflate_is_between_blocks(const curlew_inflate *inflate) {
    // 128 says that the end of a block was the last thing decoded, and the lowest bits count the unused bits.
    return (inflate->place & 128) != 0 && (inflate->place & 7) == 0;
}

void curlew_inflate_reset(curlew_inflate *inflate) {
    inflateReset(&inflate->stream);
}

void curlew_inflate_free(curlew_inflate *inflate) {
    if (inflate == NULL) return;
    inflateEnd(&inflate->stream);
    free(inflate);
}
