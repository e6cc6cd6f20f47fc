// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// A libcurl easy handle, used for one transfer after another.
///
/// Options that are the same for all transfers of a transport are set once. `prepare` updates all other options, so no
/// setting of an earlier transfer remains. This is cheaper than resetting the handle. Used only on the event loop's
/// thread.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    let configuration: TransportConfiguration
    let proxies: ProxyRules
    unowned let store: HandleStore
    /// The store of TLS sessions. The handle must be cleaned up before the store.
    private let sessions: SessionStore?
    /// The transfer that libcurl performs with the handle.
    @exclusivity(unchecked) unowned var transfer: Transfer?
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    @exclusivity(unchecked) private var headerList: UnsafeMutablePointer<curl_slist>?
    @exclusivity(unchecked) private var overrides: UnsafeMutablePointer<curl_slist>?
    /// The addresses that the event loop found for the transfer, in libcurl's format.
    @exclusivity(unchecked) private var addresses: UnsafeMutablePointer<curl_slist>?
    /// The settings of the handle, so that only changes are set: setting a string costs copies, and most calls of a
    /// client differ only in their path.
    @exclusivity(unchecked) var current = HandleState()
    /// The certificate check of the last connection that the current transfer opened; nil if it has opened none.
    @exclusivity(unchecked) var serverCheck: ServerCheck?
    @exclusivity(unchecked) private var problem: CURLcode = CURLE_OK
    /// The option that libcurl refused.
    @exclusivity(unchecked) private var refusedOption: CURLoption?
    @exclusivity(unchecked) private var fixedProblem: CURLcode = CURLE_OK

    /// Creates a handle and sets the options that never change. Returns nil if libcurl is out of memory.
    init?(configuration: TransportConfiguration, proxies: ProxyRules, store: HandleStore, sessions: SessionStore?) {
        guard let pointer = curl_easy_init() else {
            errorText.deallocate()
            return nil
        }
        self.pointer = pointer
        self.configuration = configuration
        self.proxies = proxies
        self.store = store
        self.sessions = sessions
        errorText.pointee = 0
        setFixedOptions()
        setConnections()
        setNames()
        setTrust()
        setProxyTrust()
        fixedProblem = problem
    }

    deinit {
        curl_easy_cleanup(pointer)
        curl_slist_free_all(headerList)
        curl_slist_free_all(overrides)
        curl_slist_free_all(addresses)
        errorText.deallocate()
    }

    /// Sets all options for `transfer`. Throws if libcurl refuses an option.
    func prepare(_ transfer: Transfer) throws(NetworkError) {
        problem = fixedProblem
        errorText.pointee = 0
        serverCheck = nil
        self.transfer = transfer
        if forgetsAddresses { setAddresses(of: transfer) { "-\($0)" } }
        setText(CURLOPT_URL, transfer.plan.url)
        setTarget(of: transfer)
        setMethod(of: transfer)
        setHeaders(of: transfer)
        setServer(of: transfer)
        setVersion(of: transfer)
        setBuffers(of: transfer)
        setTrailers(of: transfer)
        setConnectTimeout(transfer.plan.context.timeouts.connect)
        if problem != CURLE_OK {
            current = HandleState()
            throw CurlFailure.error(problem, handle: self, transfer: transfer)
        }
    }

    /// Sets the connect timeout. Nil sets the maximum: the largest 32-bit integer, in milliseconds. Zero would select
    /// libcurl's default of 300 s, so the minimum is 1 ms.
    private func setConnectTimeout(_ time: Duration?) {
        set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32(clamping: max(1, time?.roundedUpMilliseconds ?? .max))))
    }

    /// Returns the host and port that libcurl connects to for `transfer`, or nil if they are unknown.
    func target(for transfer: Transfer) -> (host: String, port: Int)? {
        if let proxy = current.proxy { return proxy.origin.map { ($0.host, $0.port) } }
        return configuration.dns.target(of: transfer.plan.request.origin)
    }

    /// Sets the addresses that the event loop found for the host of the transfer, and subtracts the time of the lookup
    /// from the connect timeout. libcurl caches these addresses as long as those that it looks up itself.
    func setAddresses(_ list: String, for transfer: Transfer) {
        setAddresses(of: transfer) { forgetsAddresses ? "\($0):\(list)" : "+\($0):\(list)" }
        let took = Duration.nanoseconds(transfer.connection.lookupTime ?? 0)
        setConnectTimeout(transfer.plan.context.timeouts.connect.map { max(.zero, $0 - took) })
    }

    /// Whether the next transfer removes the addresses, because they must not be cached. libcurl would remove addresses
    /// with a lifetime of zero before it connects, so they are set without a lifetime.
    private var forgetsAddresses: Bool { configuration.dns.cacheLifetime <= .zero }

    private func setAddresses(of transfer: Transfer, _ line: (String) -> String) {
        guard let target = target(for: transfer) else { return }
        let previous = addresses
        defer { curl_slist_free_all(previous) }
        addresses = nil
        // Versions differ in whether a trailing dot is part of the name.
        append(line("\(target.host):\(target.port)"), to: &addresses)
        if target.host.ends(with: ".") { append(line("\(target.host.dropLast()):\(target.port)"), to: &addresses) }
        setPointer(CURLOPT_RESOLVE, UnsafeMutableRawPointer(addresses))
    }

    /// Returns libcurl's message about the failure, or its standard text for `code`.
    ///
    /// For a refused option, newer versions write their own message, which contains only the number of the option.
    func message(for code: CURLcode) -> String {
        let standard = curl_easy_strerror(code).map { String(cString: $0) } ?? "unknown error"
        if refuses(code), let name = refusedOption.flatMap({ curl_easy_option_by_id($0)?.pointee.name }) {
            return "\(standard) (CURLOPT_\(String(cString: name)))"
        }
        return errorText.pointee != 0 ? String(cString: errorText) : standard
    }

    /// Returns whether `code` was caused by setting an option, and not by the transfer.
    func refuses(_ code: CURLcode) -> Bool {
        code != CURLE_OK && code == problem
    }

    /// Sets the buffer sizes. libcurl allocates both buffers for each transfer: beyond 128 KiB every request would map
    /// and unmap memory. Large and streamed bodies get larger buffers, because one callback with a large piece costs
    /// less than many callbacks with small pieces. Connections that switch to another protocol get small buffers,
    /// because they stay open for a long time.
    private func setBuffers(of transfer: Transfer) {
        // If the last transfer was ended early, the handle may still have its buffer and keep the size.
        let room = transfer.plan.upgrade != nil ? 16 << 10 : transfer.plan.streams ? 120 << 10 : 32 << 10
        if current.room != room, curlew_set_long(pointer, CURLOPT_BUFFERSIZE, room) == CURLE_OK {
            current.room = room
        }
        guard let upload = transfer.plan.upload else { return }
        let sendsMuch = upload.length ?? .max > 256 << 10
        let size = transfer.plan.upgrade != nil ? 16 << 10 : sendsMuch ? 120 << 10 : 64 << 10
        if current.sendBuffer != size, curlew_set_long(pointer, CURLOPT_UPLOAD_BUFFERSIZE, size) == CURLE_OK {
            current.sendBuffer = size
        }
    }

    private func setMethod(of transfer: Transfer) {
        let request = transfer.plan.request
        // Order matters: this clears the settings of an earlier upload or HEAD.
        set(CURLOPT_HTTPGET, 1)
        if let upload = transfer.plan.upload {
            set(CURLOPT_UPLOAD, 1)
            check(curlew_set_offset(pointer, CURLOPT_INFILESIZE_LARGE, upload.length ?? -1))
        } else if request.method == .head {
            set(CURLOPT_NOBODY, 1)
        }
        let isImplied = transfer.plan.upload == nil && (request.method == .get || request.method == .head)
        setText(CURLOPT_CUSTOMREQUEST, isImplied ? nil : request.method.rawValue)
    }

    private func setHeaders(of transfer: Transfer) {
        let headers = transfer.plan.request.headers
        let implied = ImpliedFields(
            hasUpload: transfer.plan.upload != nil, definesContent: transfer.plan.request.method.definesContent,
            decodesContent: transfer.plan.decodesContent && transfer.plan.upgrade == nil,
            isUpgrade: transfer.plan.upgrade != nil, trailers: transfer.announcedTrailers)
        guard !current.has(headers, implied) else { return }
        current.headers = headers
        current.implied = implied
        let previous = headerList
        defer { curl_slist_free_all(previous) }
        headerList = nil
        // libcurl adds Expect to requests with large bodies, and repeats a request if the server refuses the
        // expectation. It examines only the first field with this name, and does not send that field if it is empty.
        // Further Expect fields are sent, but libcurl does not act on them.
        if implied.hasUpload { append("Expect:") }
        if implied.isUpgrade {
            // Without this, libcurl would frame the bytes that follow the 101 response as chunks.
            append("Transfer-Encoding:")
            append("Connection: Upgrade")
            append("Upgrade: websocket")
        }
        if let names = implied.trailers { append("Trailer: \(names)") }
        var (namesAccept, namesCodings) = (false, ContentCoding.offer.isEmpty)
        for field in headers {
            if field.name == .contentLength || field.name == .transferEncoding { continue }
            if field.name == .accept { namesAccept = true }
            // A part of an encoded representation cannot be decoded separately, so no coding is requested with Range.
            if field.name == .acceptEncoding || field.name == .range { namesCodings = true }
            // libcurl removes `Name:`, and sends `Name;` as a field without a value.
            append(field.value.isEmpty ? "\(field.name.text);" : "\(field.name.text): \(field.value)")
        }
        // An empty Accept keeps libcurl from adding its own.
        if !namesAccept { append("Accept:") }
        if implied.decodesContent, !namesCodings { append("Accept-Encoding: \(ContentCoding.offer)") }
        if !implied.hasUpload, implied.definesContent { append("Content-Length: 0") }
        setPointer(CURLOPT_HTTPHEADER, UnsafeMutableRawPointer(headerList))
    }

    private func append(_ line: String) {
        append(line, to: &headerList)
    }

    /// Adds an entry for CURLOPT_CONNECT_TO, in libcurl's format.
    func appendOverride(_ line: String) {
        append(line, to: &overrides)
        setPointer(CURLOPT_CONNECT_TO, UnsafeMutableRawPointer(overrides))
    }

    private func append(_ line: String, to list: inout UnsafeMutablePointer<curl_slist>?) {
        if let longer = curl_slist_append(list, line) { list = longer } else { problem = CURLE_OUT_OF_MEMORY }
    }

    private func setFixedOptions() {
        set(CURLOPT_NOSIGNAL, 1)
        setPointer(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(errorText))
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_PROTOCOLS, Int(CURLPROTO_HTTP | CURLPROTO_HTTPS))
        // The strings are empty, not nil: otherwise libcurl would use proxies from the environment.
        setText(CURLOPT_PROXY, "")
        setText(CURLOPT_NOPROXY, "")
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // Removing a transfer during a name lookup must not wait for the lookup.
        set(CURLOPT_QUICK_EXIT, 1)
        if alwaysOpens {
            set(CURLOPT_FRESH_CONNECT, 1)
            set(CURLOPT_FORBID_REUSE, 1)
        }
        check(curlew_set_data_callback(pointer, CURLOPT_HEADERFUNCTION, receiveHeader))
        check(curlew_set_data_callback(pointer, CURLOPT_WRITEFUNCTION, receiveBody))
        check(curlew_set_data_callback(pointer, CURLOPT_READFUNCTION, sendBody))
        check(curlew_set_seek_callback(pointer, CURLOPT_SEEKFUNCTION, rewindBody))
        check(curlew_set_before_request_callback(pointer, CURLOPT_PREREQFUNCTION, beginRequest))
        check(curlew_set_open_socket_callback(pointer, CURLOPT_OPENSOCKETFUNCTION, openSocket))
        check(curlew_set_close_socket_callback(pointer, CURLOPT_CLOSESOCKETFUNCTION, closeSocket))
        for option in [
            CURLOPT_PRIVATE, CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA,
            CURLOPT_PREREQDATA, CURLOPT_OPENSOCKETDATA,
        ] { setPointer(option, context) }
        setPointer(CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(store).toOpaque())
        if let sessions { setPointer(CURLOPT_SHARE, UnsafeMutableRawPointer(sessions.pointer)) }
    }

    /// The context of the callbacks.
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// Returns the handle that libcurl passes to a callback.
    static func of(_ pointer: UnsafeMutableRawPointer) -> EasyHandle? {
        curlew_info_pointer(pointer, CURLINFO_PRIVATE).map {
            Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue()
        }
    }

    func set(_ option: CURLoption, _ value: Int) {
        check(curlew_set_long(pointer, option, value), option)
    }

    func setText(_ option: CURLoption, _ value: String?) {
        // Passing an optional string directly to C would copy it.
        let code = value.map { $0.withCString { curlew_set_string(pointer, option, $0) } }
        check(code ?? curlew_set_string(pointer, option, nil), option)
    }

    /// Sets data, which libcurl copies; nil clears the option.
    func setData(_ option: CURLoption, _ value: Data?) {
        guard let value else { return setPointer(option, nil) }
        check(value.withUnsafeBytes { curlew_set_blob(pointer, option, $0.baseAddress, $0.count) }, option)
    }

    func setPointer(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) {
        check(curlew_set_pointer(pointer, option, value), option)
    }

    func check(_ code: CURLcode, _ option: CURLoption? = nil) {
        guard code != CURLE_OK, problem == CURLE_OK else { return }
        problem = code
        refusedOption = option
    }
}
#endif
