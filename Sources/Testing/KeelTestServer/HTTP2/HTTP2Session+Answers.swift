#if TestServer
import HTTPTypes
import KeelTestKit

extension HTTP2Session {
    /// Answers the request of a stream.
    func answer(_ id: UInt32) async throws {
        guard let stream = streams.value[id] else { return }
        let request = stream.request
        let resetCode = Watched(UInt32?.none)
        let isGiven = Watched(false)
        _ = try await context.wire.untilClosed {
            try await withThrowingTaskGroup(of: UInt32?.self) { group in
                group.addTask {
                    try await give(stream.queued, to: request, on: id)
                    isGiven.change { $0 = true }
                    return nil
                }
                group.addTask { try await streams.wait { $0[id]?.resetCode } }
                defer { group.cancelAll() }
                let code = try await group.next() ?? nil
                resetCode.change { $0 = code }
            }
        }
        if isGiven.value, resetCode.value == nil {
            context.finish(request)
        } else if !Task.isCancelled, !streams.value.isEndedByServer {
            context.hangUp(request, code: resetCode.value)
        }
        if streams.change({ $0.finish() }) { await context.wire.close() }
    }

    private func give(
        _ queued: HTTPTestAnswer?,
        to request: Int,
        on id: UInt32
    ) async throws {
        let seen = context.journal.value.requests[request]
        var answer = queued
        if answer == nil {
            answer = try await context.script.answer(to: seen, context.journal)
        }
        guard let answer else { return }
        for step in answer.steps(answering: seen.method) {
            try await perform(step, for: request, on: id)
        }
    }

    private func perform(
        _ step: HTTPTestAnswer.Step,
        for request: Int,
        on id: UInt32
    ) async throws {
        switch step {
        case .pause(let duration): try await context.pause(duration)
        case .informational(let head): try await send(head, .none, ends: false, on: id)
        case .head(let head, let coding, let isWhole):
            try await send(head, coding, ends: isWhole, on: id)
        case .partialHead(let head, let coding):
            let block = HTTP2Frame.block(
                status: head.status.code,
                head.headerFields,
                length: coding.length
            )
            try await send(HTTP2Frame(.headers, stream: id, block.prefix(block.count / 2)))
        case .piece(let bytes):
            var rest = bytes
            while !rest.isEmpty {
                let wanted = rest.count
                let count = try await streams.wait { $0.reserve(wanted, on: id) }
                try await send(.data(id, rest.prefix(count), ends: false))
                rest = rest.dropFirst(count)
                context.journal.change { $0.requests[request].sentBytes += count }
            }
        case .end(let trailers):
            guard let trailers else { return try await send(.data(id, [], ends: true)) }
            let block = HTTP2Frame.block(status: nil, trailers)
            try await write(HTTP2Frame.headers(id, block, ends: true))
        case .raw(let bytes): try await context.wire.write(bytes)
        case .interrupt(let action): try await perform(action, on: id)
        }
    }

    private func perform(_ action: HTTPTestAnswer.Action, on id: UInt32) async throws {
        switch action {
        case .stall: try await context.wire.stall()
        case .resetStream(let code): try await send(.resetStream(id, code))
        case .goAway(let code, let processed):
            streams.change { $0.goAway() }
            try await send(.goAway(last: processed ? id : max(id, 2) - 2, code: code))
        case .close, .cut, .reset, .bytes:
            streams.change { $0.isEndedByServer = true }
            if case .bytes(let bytes) = action { try await context.wire.write(bytes) }
            switch action {
            case .cut: await context.wire.cut()
            case .reset: await context.wire.reset()
            default: await context.wire.close()
            }
        }
    }

    private func send(
        _ head: HTTPResponse,
        _ coding: HTTPTestAnswer.Coding,
        ends: Bool,
        on id: UInt32
    ) async throws {
        let block = HTTP2Frame.block(
            status: head.status.code,
            head.headerFields,
            length: coding.length
        )
        try await write(HTTP2Frame.headers(id, block, ends: ends))
    }

    private func write(_ frames: [HTTP2Frame]) async throws {
        try await context.wire.write(frames.flatMap(\.bytes))
    }
}

extension HTTPTestAnswer.Coding {
    fileprivate var length: Int? {
        if case .length(let length) = self { length } else { nil }
    }
}
#endif
