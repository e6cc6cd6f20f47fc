// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl

/// Quirk of libcurl: from 8.7.0 on, the size of a request includes its body (verified with 8.12.1, 8.16.0 and 8.23.0).
/// Up to 8.6.0 the size includes only the head (verified with 7.88.1 and 8.4.0).
extension EasyHandle {
    /// The number of bytes that were sent: request heads and bodies.
    var bytesSent: Int64 {
        let request = Int64(curlew_info_long(pointer, CURLINFO_REQUEST_SIZE))
        if CurlLibrary.current.version >= 0x08_07_00 { return request }
        return request + curlew_info_offset(pointer, CURLINFO_SIZE_UPLOAD_T)
    }
}
#endif
