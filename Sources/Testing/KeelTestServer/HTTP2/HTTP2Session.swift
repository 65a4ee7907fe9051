#if TestServer
import HTTPTypes
import KeelTestKit
import NIOCore
import NIOHPACK

/// The concurrent exchanges of an HTTP/2 connection (RFC 9113).
struct HTTP2Session: Sendable {
    let context: SessionContext
    let streams = Watched(HTTP2Streams())

    init(_ context: SessionContext) {
        self.context = context
    }

    func send(_ frames: HTTP2Frame...) async throws {
        // One write, so that frames of other streams cannot come between.
        try await context.wire.write(frames.flatMap(\.bytes))
    }

    func serve(startingWith bytes: [UInt8]) async throws {
        guard context.configuration.http2.sendsSettings else {
            while try await context.reader.next() != nil {}
            return
        }
        let http2 = context.configuration.http2
        var settings: [(UInt16, UInt32)] = []
        if let limit = http2.concurrentStreams { settings.append((3, limit)) }
        if let window = http2.initialWindow { settings.append((4, window)) }
        try await send(.settings(settings))
        // Answers in progress detect and record the end of the connection themselves.
        try await withThrowingDiscardingTaskGroup { group in
            var rest = bytes[...]
            while rest.count < HTTP2Frame.preface.count {
                guard let more = try await context.reader.next() else { return }
                rest += more
            }
            rest = rest.dropFirst(HTTP2Frame.preface.count)
            var heads = HTTP2Heads()
            while true {
                while let frame = HTTP2Frame.take(from: &rest) {
                    guard let ready = try await receive(frame, &heads) else { continue }
                    group.addTask { try? await answer(ready) }
                }
                guard let more = try? await context.reader.next() else { return }
                rest += more
            }
        }
    }

    /// Handles one frame; returns the stream that can now be answered, if any.
    private func receive(_ frame: HTTP2Frame, _ heads: inout HTTP2Heads) async throws -> UInt32? {
        switch frame.kind {
        case .headers?, .continuation?:
            guard let block = try heads.add(frame) else { return nil }
            return try await receive(block)
        case .data?:
            return try await receiveData(frame)
        case .settings? where !frame.has(HTTP2Frame.Flag.acknowledgement):
            streams.change { $0.applySettings(frame.payload) }
            try await send(HTTP2Frame(.settings, flags: HTTP2Frame.Flag.acknowledgement))
        case .ping? where !frame.has(HTTP2Frame.Flag.acknowledgement):
            try await send(
                HTTP2Frame(.ping, flags: HTTP2Frame.Flag.acknowledgement, frame.payload)
            )
        case .windowUpdate?:
            let count = Int(UInt32(bigEndianBytes: frame.payload) & 0x7fff_ffff)
            streams.change { $0.allow(count, on: frame.stream) }
        case .resetStream?:
            let code = UInt32(bigEndianBytes: frame.payload)
            streams.change { $0[frame.stream]?.resetCode = code }
        default:
            break
        }
        return nil
    }

    private func receive(_ block: HTTP2Heads.Block) async throws -> UInt32? {
        let id = block.stream
        if let stream = streams.value[id] {
            return finish(stream, id, trailers: block.fields)
        }
        let number = context.number
        let request = context.journal.change { $0.begin(block.request, on: number) }
        let queued = context.script.next()
        let reading = queued?.reading ?? context.configuration.reading
        let limit = if case .atMost(let count) = reading { count } else { Int.max }
        streams.change { $0.open(id, request: request, queued: queued, readLimit: limit) }
        if block.ends {
            context.journal.change { $0.requests[request].isComplete = true }
            return id
        }
        if block.request["expect"]?.lowercased() == "100-continue", limit > 0 {
            let bytes = HTTP2Frame.block(status: 100, [:])
            try await context.wire.write(
                HTTP2Frame.headers(id, bytes, ends: false).flatMap(\.bytes)
            )
        }
        return reading == .headFirst || limit == 0 ? id : nil
    }

    private func receiveData(_ frame: HTTP2Frame) async throws -> UInt32? {
        let id = frame.stream
        let count = frame.payload.count
        if count > 0 { try await send(.windowUpdate(0, count)) }
        guard let stream = streams.value[id] else { return nil }
        let kept = context.configuration.recordedBodyByteLimit
        context.journal.change { $0.receive(frame.content, of: stream.request, limit: kept) }
        let received = stream.received + frame.content.count
        streams.change { $0[id]?.received = received }
        if frame.has(HTTP2Frame.Flag.endStream) { return finish(stream, id, trailers: []) }
        if received < stream.readLimit {
            if count > 0 { try await send(.windowUpdate(id, count)) }
            return nil
        }
        return stream.received < stream.readLimit ? id : nil
    }

    /// Records the end of a request; returns the stream, if its answer was waiting for the end.
    private func finish(
        _ stream: HTTP2Streams.Stream,
        _ id: UInt32,
        trailers: [HTTPTestRequest.Field]
    ) -> UInt32? {
        context.journal.change { journal in
            journal.requests[stream.request].trailers = trailers
            journal.requests[stream.request].isComplete = true
        }
        let reading = stream.queued?.reading ?? context.configuration.reading
        switch reading {
        case .wholeRequest: return id
        case .headFirst: return nil
        case .atMost(let count): return stream.received < count ? id : nil
        }
    }
}
#endif
