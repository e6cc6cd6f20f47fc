// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTransfers

/// Uploads with generated faults: the bytes are always the same, and none is sent twice that the server has.
@Suite(.timeLimit(.minutes(1)))
struct UploadFaultTests {
    @Test("The sequence delivers identical bytes whatever fails", arguments: 0..<20)
    func sequence(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<15 {
            let server = UploadServerModel()
            let source = Data(random.bytes(upTo: 5000))
            let chunk = Bool.random(using: &random) ? nil : Int64.random(in: 20...2000, using: &random)
            var options = Upload.Options(.tus, chunkSize: chunk)
            options.maximumFailures = .max
            let faults = Locked(random)
            let transport = server.transport { _, call in
                faults.withLock { random in
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0: .lost
                    case 1: .cut(Int.random(in: 0...call.body.count, using: &random))
                    case 2: .lostResponse
                    case 3: .status([423, 500, 502, 503, 504, 429].randomElement(using: &random) ?? 500, [:])
                    default: .none
                    }
                }
            }
            let configuration = APIClient.Configuration(time: ManualClock.skippingWaits)
            let client = APIClient.mock(transport, configuration: configuration)
            let result = try await client.upload(.data(source), to: .post("/files"), options: options)
            let path = result.url.map { $0.dropFirst(server.origin.count) } ?? ""
            let upload = server.state.withLock { $0.uploads[String(path)] }
            #expect(upload?.bytes == source && upload?.isComplete == true, "seed \(seed)")
            #expect(server.received == source.count, "seed \(seed)")
            random = faults.withLock { $0 }
        }
    }

    @Test("Calls deliver identical bytes over a bad connection, with progress that never decreases", arguments: 0..<20)
    func calls(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let server = UploadServerModel()
        let source = Data((0..<200_000).map { _ in UInt8.random(in: 0...255, using: &random) })
        let faults = Locked(random)
        let transport = server.transport { number, call in
            faults.withLock { random in
                guard call.method == .patch || call.method == .head else { return .none }
                switch Int.random(in: 0..<4, using: &random) {
                case 0: return .lost
                case 1 where call.method == .patch:
                    return .cut(Int.random(in: 0...call.body.count, using: &random))
                case 2: return .lostResponse
                default: return .none
                }
            }
        }
        let client = APIClient.mock(transport, configuration: .init(time: ManualClock.skippingWaits))
        let values = Locked<[TransferProgress]>([])
        var options = Upload.Options(chunkSize: seed.isMultiple(of: 3) ? 30_000 : nil)
        options.maximumFailures = 1000
        let result = try await client.upload(.data(source), to: .post("/files"), options: options) { value in
            values.withLock { $0.append(value) }
        }
        #expect(server.only?.bytes == source && result.length == 200_000, "seed \(seed)")
        #expect(server.received == source.count, "seed \(seed)")
        let seen = values.withLock { $0 }
        #expect(seen.map(\.completed) == seen.map(\.completed).sorted())
        #expect(seen.last?.isLast == true && seen.last?.completed == 200_000 && seen.count { $0.isLast } == 1)
    }

    @Test(
        "No server that responds right and hardly moves makes the client send without an end",
        arguments: IdleServer.allCases, [1, 1000, 100_000, 20_000_000])
    func idle(shape: IdleServer, size: Int) async throws {
        try await send(size, to: shape, nil)
        try await send(size, to: shape, 30_000)
    }

    private func send(_ size: Int, to shape: IdleServer, _ chunk: Int64?) async throws {
        let offset = Locked(0), received = Locked(0), requests = Locked(0)
        let transport = MockTransport.answering { call in
            requests.withLock { $0 += 1 }
            guard call.method != .post else { return .status(201, headers: [.location: "/up/\(UUID().uuidString)"]) }
            received.withLock { $0 += call.body.count }
            return try offset.withLock { offset in try shape.response(to: call, &offset) }
        }
        let client = APIClient.mock(transport, configuration: .init(time: ManualClock.skippingWaits))
        var options = Upload.Options(.tus, chunkSize: chunk)
        options.random = { 1 }
        let error = await uploadFailure {
            try await client.upload(.data(Data(count: size)), to: .post("/files"), options: options)
        }
        #expect(error != nil || offset.withLock { $0 } == size)
        #expect(received.withLock { Int64($0) } <= UploadRun.maximumSent(Int64(size)))
        // A chunk that moves is one request of at least an eighth; each failure is a request and a question.
        let chunks = chunk.map { size / Int($0) } ?? 0
        #expect(requests.withLock { $0 } <= 40 + 8 * chunks + size / 8192)
    }
}

/// A server that responds as the protocol says and whose uploads hardly grow.
enum IdleServer: CaseIterable {
    case withoutOffset, keepingNothing, keepingOneByte, keepingTenth, cuttingAtOneByte, cuttingAt64KiB, portal
    case conflicting, losing

    func response(to call: RecordedRequest, _ offset: inout Int) throws -> HTTPResponse {
        let state: HTTPHeaders = ["Upload-Offset": "\(offset)"]
        if self == .portal { return .status(200) }
        guard call.method == .patch else { return .status(200, headers: state) }
        switch self {
        case .withoutOffset: return .status(204)
        case .keepingNothing, .portal: break
        case .keepingOneByte: offset += min(1, call.body.count)
        case .keepingTenth: offset += call.body.count / 10
        case .cuttingAtOneByte, .cuttingAt64KiB:
            offset += min(self == .cuttingAt64KiB ? 64 << 10 : 1, call.body.count)
            throw NetworkError(.connectionLost(.requestMayHaveArrived))
        case .conflicting:
            offset += min(1, call.body.count)
            return .status(409)
        case .losing: return .status(404)
        }
        return .status(204, headers: ["Upload-Offset": "\(offset)"])
    }
}
