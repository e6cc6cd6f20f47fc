// SPDX-License-Identifier: MIT

import Curlew
import Observation

/// A story that a language model writes: the text grows with each event of the stream.
///
/// The call is a POST, which the stream does not repeat by itself: a second call costs again, and its text differs. So
/// an error is shown, and the person decides.
@MainActor @Observable
final class Story {
    enum Phase: Hashable, Sendable {
        case idle
        /// The call was sent, and no text has arrived.
        case waiting
        case writing
        case finished
        /// The person has stopped it.
        case stopped
        case failed(Failure)
    }

    /// Why a story has no end.
    enum Failure: Error, Hashable, Sendable {
        /// The service sent an error in its stream, with this text.
        case service(String)
        case network(NetworkError)
        /// The text exceeds `Story.maximumSize`.
        case tooLong

        var message: String {
            switch self {
            case .service(let text): text
            case .network(let error): error.message
            case .tooLong: "The story is too long."
            }
        }
    }

    private(set) var phase = Phase.idle
    private(set) var text = ""
    private(set) var subject = ""
    /// The number of tokens that the service has counted; nil until it has sent them.
    private(set) var usage: StoryPart.Usage?
    /// How long the service has written, from the first part of the text to the last event.
    private(set) var writingTime = Duration.zero

    /// The maximum size of the text in bytes.
    static let maximumSize = 256 * 1024

    @ObservationIgnored private let client: APIClient
    @ObservationIgnored private let model: String
    @ObservationIgnored private let time: any TimeSource

    init(client: APIClient, model: String = "storyteller-1", time: any TimeSource = SystemTime()) {
        self.client = client
        self.model = model
        self.time = time
    }

    /// Tokens per second while the service wrote; nil until the story is finished.
    var tokensPerSecond: Double? {
        guard phase == .finished, let usage, writingTime > .zero else { return nil }
        return Double(usage.completionTokens) / (writingTime / .seconds(1))
    }

    var isBusy: Bool { phase == .waiting || phase == .writing }

    /// Requests a new story and returns at its end. Cancelling the task closes the connection at once, so the service
    /// stops writing; the text so far stays.
    ///
    /// - `write`: receives each part of the text as it arrives.
    func tell(about subject: String, write: (String) -> Void = { _ in }) async {
        guard !isBusy else { return }
        (self.subject, text, usage, writingTime, phase) = (subject, "", nil, .zero, .waiting)
        do {
            try await read(write)
            phase = .finished
        } catch let failure as Failure {
            phase = .failed(failure)
        } catch {
            let error = NetworkError(error)
            phase = error.isCancelled ? .stopped : .failed(.network(error))
        }
    }

    /// Requests the same story from its beginning.
    func tellAgain(write: (String) -> Void = { _ in }) async {
        await tell(about: subject, write: write)
    }

    private func read(_ write: (String) -> Void) async throws {
        var options = EventStreamOptions()
        options.endMarker = "[DONE]"
        options.maximumEventSize = 64 * 1024
        let parts = client.events(.story(about: subject, model: model), of: StoryPart.self, options: options)
        var start: MonotonicInstant?
        // Whatever leaves this loop releases the stream, which closes the connection.
        for try await part in parts {
            switch part {
            case .text(""): continue
            case .text(let piece):
                guard text.utf8.count + piece.utf8.count <= Self.maximumSize else { throw Failure.tooLong }
                if start == nil { start = time.now }
                phase = .writing
                text += piece
                write(piece)
            case .usage(let usage): self.usage = usage
            case .failure(let message): throw Failure.service(message)
            }
        }
        writingTime = start.map { $0.duration(to: time.now) } ?? .zero
    }
}
