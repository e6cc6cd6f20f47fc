// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore

/// The state of a transfer at its carrier.
///
/// | state | libcurl has it | received bytes | step and next state |
/// |---|---|---|---|
/// | `outside` | no | go to the reader | `begin` → `performing` |
/// | `performing` | yes | go to the reader | `needName` → `needsName`, `lackDescriptor` → `lacksDescriptor` |
/// | `needsName` | yes, it is ending it | none | `resolve` → `resolving` |
/// | `resolving` | no | none | `beginAgain` → `performing` |
/// | `lacksDescriptor` | no | none | `beginAgain` → `performing` |
/// | `ending` | yes | are discarded | none |
///
/// Each state but `outside` also has the step `leave` → `outside` and, except for `ending`, `end` → `ending`. In
/// `outside` and `performing`, the flow says more:
///
/// | flow | received bytes | step and next flow |
/// |---|---|---|
/// | `open` | go to the reader, or wait for it | `pause`, `resume` → `open`; `fail` → `failed`; `drain` → `draining` |
/// | `failed` | none: libcurl is ending the transfer | `resume` → `failed` |
/// | `draining` | are discarded | `resume` → `draining` |
///
/// `begin`, `needName` and `lackDescriptor` need an open flow that is not paused, because nothing has been sent. Any
/// other step is refused: it changes nothing.
enum TransferState {
    /// libcurl does not have the transfer: it has not begun, uses one of the transport's own connections, or is over.
    case outside(Flow)
    case curl(EasyHandle, Stage)

    enum Stage {
        case performing(Flow)
        /// libcurl was about to look up this name. The transport has made it end the transfer instead.
        case needsName(String)
        /// The transfer waits for the addresses of this name.
        case resolving(String, since: Int64)
        /// The transfer waits for the end of another one, because the process has no descriptor for its connection.
        case lacksDescriptor
        /// The transport ends the transfer.
        case ending
    }

    enum Flow {
        case open(paused: Directions)
        /// One of the transport's callbacks has failed with this error. libcurl reports only that a callback failed.
        case failed(NetworkError, paused: Directions)
        /// The caller has cancelled, and the rest of the body is received so that the connection can be reused.
        case draining(paused: Directions)
    }

    /// Where a transfer is paused: receiving until its reader takes the buffered bytes, sending until the producer of
    /// the request body supplies more bytes.
    struct Directions: OptionSet {
        let rawValue: UInt8
        static let receiving = Directions(rawValue: 1)
        static let sending = Directions(rawValue: 2)
    }

    enum Step {
        case begin(EasyHandle)
        case pause(Directions)
        case resume
        case fail(NetworkError)
        case drain
        case needName(String)
        case resolve(at: Int64)
        case lackDescriptor
        case beginAgain
        case end
        case leave
    }

    /// Takes a step. Returns false if the state does not have it.
    @discardableResult
    mutating func take(_ step: Step) -> Bool {
        let next: Self? =
            switch (self, step) {
            case (.outside(.open(paused: [])), .begin(let easy)): .curl(easy, .performing(.open(paused: [])))
            case (.curl, .leave): .outside(.open(paused: []))
            case (.outside(let flow), _): flow.after(step).map { .outside($0) }
            case (.curl(let easy, let stage), _): stage.after(step).map { .curl(easy, $0) }
            }
        guard let next else { return false }
        self = next
        return true
    }

    /// The handle of a transfer that libcurl performs.
    var easy: EasyHandle? { if case .curl(let easy, _) = self { easy } else { nil } }

    var paused: Directions {
        switch self {
        case .outside(.open(let paused)), .outside(.failed(_, let paused)), .outside(.draining(let paused)),
            .curl(_, .performing(.open(let paused))), .curl(_, .performing(.failed(_, let paused))),
            .curl(_, .performing(.draining(let paused))):
            paused
        case .curl: []
        }
    }

    var isDraining: Bool {
        switch self {
        case .outside(.draining), .curl(_, .performing(.draining)): true
        default: false
        }
    }

    /// Whether received bytes are discarded.
    var isDiscarding: Bool { if case .curl(_, .ending) = self { true } else { isDraining } }

    /// The error of a callback that has failed.
    var failure: NetworkError? {
        switch self {
        case .outside(.failed(let error, _)), .curl(_, .performing(.failed(let error, _))): error
        default: nil
        }
    }

    var isResolving: Bool { if case .curl(_, .resolving) = self { true } else { false } }

    var lacksDescriptor: Bool { if case .curl(_, .lacksDescriptor) = self { true } else { false } }
}

extension TransferState.Stage {
    fileprivate func after(_ step: TransferState.Step) -> Self? {
        switch (self, step) {
        case (.performing(.open(paused: [])), .needName(let name)): .needsName(name)
        case (.performing(.open(paused: [])), .lackDescriptor): .lacksDescriptor
        case (.needsName(let name), .resolve(let now)): .resolving(name, since: now)
        case (.resolving, .beginAgain), (.lacksDescriptor, .beginAgain): .performing(.open(paused: []))
        case (.ending, _): nil
        case (_, .end): .ending
        case (.performing(let flow), _): flow.after(step).map { .performing($0) }
        default: nil
        }
    }
}

extension TransferState.Flow {
    fileprivate func after(_ step: TransferState.Step) -> Self? {
        switch (self, step) {
        case (.open(let paused), .pause(let more)): .open(paused: paused.union(more))
        case (.open(let paused), .fail(let error)): .failed(error, paused: paused)
        case (.open(let paused), .drain): .draining(paused: paused)
        case (.open, .resume): .open(paused: [])
        case (.failed(let error, _), .resume): .failed(error, paused: [])
        case (.draining, .resume): .draining(paused: [])
        default: nil
        }
    }
}
#endif
