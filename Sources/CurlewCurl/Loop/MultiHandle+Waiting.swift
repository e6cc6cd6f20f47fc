// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// Transfers that libcurl does not have while they wait: for the addresses of a name, or for a descriptor.
extension MultiHandle {
    /// Suspends a transfer whose name libcurl was about to look up. libcurl has ended the transfer instead, and the
    /// loop looks up the name once for all waiting transfers.
    func wait(_ transfer: Transfer, _ easy: EasyHandle, for name: String) {
        curl_multi_remove_handle(pointer, easy.pointer)
        transfer.lookup = .waiting(name, since: loop.now)
        let isFirst = waiting[name] == nil
        waiting[name, default: []].append(transfer)
        // Names such as `app.localhost` are loopback names by definition (RFC 6761 §6.3), but not every libcurl
        // resolves them as such. The DNS is not queried for them: it could return another machine, which would receive
        // data intended for this machine only.
        if let known = Origin(scheme: "http", host: name, port: 80)?.loopbackAddresses {
            return found(name, .addresses(known))
        }
        if let known = foundNow[name] { return found(name, known) }
        transfer.plan.context.record(.connecting(.resolving(name: name)))
        guard isFirst else { return }
        loop.names.resolve(name) { [weak loop] outcome in loop?.send(.found(name, outcome)) }
    }

    /// Resumes or ends the transfers that wait for this name.
    func found(_ name: String, _ outcome: NameLookup.Outcome) {
        foundNow[name] = outcome
        for transfer in waiting.removeValue(forKey: name) ?? [] {
            guard let easy = transfer.easy, case .waiting(_, let since) = transfer.lookup else { continue }
            let now = TimeoutTracker.now()
            transfer.lookup = .over(took: now - since)
            switch outcome {
            case .addresses(let list): easy.setAddresses(list, for: transfer)
            case .unwritable: break
            case .failed(let reason):
                complete(transfer, easy, .failure(CurlFailure.lookup(of: name, reason, easy, transfer)))
                continue
            }
            beginAgain(transfer, easy)
        }
    }

    /// Returns a transfer to libcurl after it has waited.
    func beginAgain(_ transfer: Transfer, _ easy: EasyHandle) {
        do throws(NetworkError) {
            try attach(easy)
            begun += 1
        } catch {
            complete(transfer, easy, .failure(error))
        }
    }

    /// Suspends a transfer that failed because the process has no descriptor for its connection. When another transfer
    /// ends, its connection or descriptor is free. Returns false if there is no other one, or if a part of the request
    /// was sent, which libcurl would forget.
    func awaitDescriptor(_ transfer: Transfer, _ easy: EasyHandle) -> Bool {
        guard transfer.connection.lacksDescriptor, transfer.sent.attempts == 0, !transfer.ending.isDiscarding,
            withoutDescriptor.count + 1 < active.count
        else { return false }
        curl_multi_remove_handle(pointer, easy.pointer)
        withoutDescriptor.append(transfer)
        return true
    }
}
#endif
