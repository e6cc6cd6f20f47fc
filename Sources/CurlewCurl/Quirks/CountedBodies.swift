// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl

/// From 8.7.0 on, libcurl counts the bytes of a body as bytes of the request (verified with 8.12.1, 8.16.0 and 8.23.0).
/// Up to 8.6.0 it counts only the head (verified with 7.88.1 and 8.4.0).
extension EasyHandle {
    /// The number of sent bytes of requests and their bodies.
    var bytesSent: Int64 {
        let request = Int64(curlew_info_long(pointer, CURLINFO_REQUEST_SIZE))
        if CurlLibrary.current.version >= 0x08_07_00 { return request }
        return request + curlew_info_offset(pointer, CURLINFO_SIZE_UPLOAD_T)
    }
}
#endif
