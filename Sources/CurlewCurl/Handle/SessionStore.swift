// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore

/// The TLS sessions that the handles of one event loop share, so that a new connection can resume a session no matter
/// which handle opened the earlier connection. libcurl before 8.12 keeps sessions per handle; later versions keep them
/// with the connections.
///
/// The store needs no locks, because one thread uses all of these handles. The handles retain the store, which must not
/// be released before them.
final class SessionStore {
    let pointer: OpaquePointer

    /// Creates a store. Returns nil if this libcurl needs no store, or if memory is exhausted.
    init?() {
        guard CurlLibrary.current.keepsSessionsByHandle, let pointer = curlew_session_store() else { return nil }
        self.pointer = OpaquePointer(pointer)
    }

    deinit {
        curl_share_cleanup(UnsafeMutableRawPointer(pointer))
    }
}

extension EasyHandle {
    /// Makes the handle keep its TLS sessions in `store`. Does nothing if `store` is nil. Returns false if libcurl
    /// refuses.
    func share(_ store: SessionStore?) -> Bool {
        guard let store else { return true }
        sessions = store
        return curlew_set_pointer(pointer, CURLOPT_SHARE, UnsafeMutableRawPointer(store.pointer)) == CURLE_OK
    }
}
#endif
