#if TestServer
import HTTPTypes
import KeelTestKit

/// The sequential exchanges of an HTTP/1.1 connection.
struct HTTP1Session: Sendable {
    private let context: SessionContext

    init(_ context: SessionContext) {
        self.context = context
    }

    func serve(startingWith bytes: [UInt8]) async throws {
        let parser = Watched(HTTP1RequestParser())
        parser.change { $0.append(bytes) }
        while let head = try await nextHead(parser) {
            guard try await exchange(head, parser) else { return }
        }
    }

    private func nextHead(_ parser: Watched<HTTP1RequestParser>) async throws -> HTTPTestRequest? {
        while true {
            switch parser.change({ $0.next() }) {
            case .head(let head)?: return head
            case .invalid?:
                try await context.wire.write(
                    Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8)
                )
                return nil
            case .body?, .end?: continue
            case nil:
                guard let bytes = try await context.reader.next() else { return nil }
                parser.change { $0.append(bytes) }
            }
        }
    }

    /// Serves one request; returns whether the connection can continue.
    private func exchange(
        _ head: HTTPTestRequest,
        _ parser: Watched<HTTP1RequestParser>
    ) async throws -> Bool {
        let number = context.number
        let request = context.journal.change { $0.begin(head, on: number) }
        let queued = context.script.next()
        let reading = queued?.reading ?? context.configuration.reading
        if head["expect"]?.lowercased() == "100-continue", reading != .atMost(0) {
            try await context.wire.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
        let closes = head["connection"]?.lowercased() == "close"
        switch reading {
        case .wholeRequest:
            guard try await readBody(of: request, parser, upTo: .max) else { return false }
            return try await answer(request, queued) && !closes
        case .atMost(let count):
            _ = try await readBody(of: request, parser, upTo: count)
            if try await answer(request, queued) { try await context.wire.waitForClose() }
            return false
        case .headFirst:
            return try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask { try await readBody(of: request, parser, upTo: .max) }
                guard try await answer(request, queued) else {
                    group.cancelAll()
                    return false
                }
                return try await group.next() == true && !closes
            }
        }
    }

    /// Reads the body of a request; returns whether the body was read completely.
    private func readBody(
        of request: Int,
        _ parser: Watched<HTTP1RequestParser>,
        upTo limit: Int
    ) async throws -> Bool {
        let kept = context.configuration.recordedBodyByteLimit
        var count = 0
        while true {
            switch parser.change({ $0.next() }) {
            case .body(let bytes)?:
                context.journal.change { $0.receive(bytes, of: request, limit: kept) }
                count += bytes.count
            case .end(let trailers)?:
                context.journal.change { journal in
                    journal.requests[request].trailers = trailers
                    journal.requests[request].isComplete = true
                }
                return true
            case .head?, .invalid?: return false
            case nil:
                guard count < limit, let bytes = try await context.reader.next() else {
                    return false
                }
                parser.change { $0.append(bytes) }
            }
        }
    }

    /// Sends the answer; returns whether the connection can continue.
    private func answer(_ request: Int, _ queued: HTTPTestAnswer?) async throws -> Bool {
        let goesOn = Watched(true)
        let isDone = try await context.wire.untilClosed {
            let seen = context.journal.value.requests[request]
            var answer = queued
            if answer == nil {
                answer = try await context.script.answer(to: seen, context.journal)
            }
            guard let answer else { return }
            let stays = try await perform(answer, for: seen)
            goesOn.change { $0 = stays }
        }
        if isDone {
            context.finish(request)
        } else if !Task.isCancelled {
            context.hangUp(request)
        }
        return isDone && goesOn.value
    }

    private func perform(
        _ answer: HTTPTestAnswer,
        for request: HTTPTestRequest
    ) async throws -> Bool {
        let wire = context.wire
        var coding = HTTPTestAnswer.Coding.none
        for step in answer.steps(answering: request.method) {
            switch step {
            case .pause(let duration): try await context.pause(duration)
            case .informational(let head): try await wire.write(head.http1Bytes(.none))
            case .head(let head, let chosen, _):
                coding = chosen
                try await wire.write(head.http1Bytes(chosen))
            case .partialHead(let head, let chosen):
                let bytes = head.http1Bytes(chosen)
                try await wire.write(bytes.prefix(bytes.count / 2))
            case .piece(let bytes):
                try await wire.write(coding == .chunked ? bytes.asChunk : Array(bytes))
                let count = bytes.count
                context.journal.change { $0.requests[request.number].sentBytes += count }
            case .end(let trailers):
                if coding == .chunked {
                    try await wire.write(
                        Array("0\r\n".utf8) + (trailers ?? [:]).http1Bytes + Array("\r\n".utf8)
                    )
                }
            case .raw(let bytes): try await wire.write(bytes)
            case .interrupt(let action):
                try await perform(action)
                return false
            }
        }
        let announced = answer.head.headerFields[.connection]?.lowercased()
        return coding != .untilClose && announced != "close"
    }

    private func perform(_ action: HTTPTestAnswer.Action) async throws {
        switch action {
        case .stall: try await context.wire.stall()
        case .close, .goAway: break
        case .cut: await context.wire.cut()
        case .reset, .resetStream: await context.wire.reset()
        case .bytes(let bytes): try await context.wire.write(bytes)
        }
    }
}

extension HTTPResponse {
    /// Returns the head in HTTP/1.1 form, with the fields that delimit the body.
    func http1Bytes(_ coding: HTTPTestAnswer.Coding) -> [UInt8] {
        let reason = status.reasonPhrase.isEmpty ? "Unnamed" : status.reasonPhrase
        var bytes = Array("HTTP/1.1 \(status.code) \(reason)\r\n".utf8)
        switch coding {
        case .length(let length) where headerFields[.contentLength] == nil:
            bytes += Array("Content-Length: \(length)\r\n".utf8)
        case .chunked: bytes += Array("Transfer-Encoding: chunked\r\n".utf8)
        case .length, .none, .untilClose: break
        }
        return bytes + headerFields.http1Bytes + Array("\r\n".utf8)
    }
}

extension HTTPFields {
    var http1Bytes: [UInt8] {
        flatMap { Array("\($0.name.rawName): \($0.value)\r\n".utf8) }
    }
}

extension ArraySlice<UInt8> {
    var asChunk: [UInt8] {
        Array(String(count, radix: 16).utf8) + [13, 10] + self + [13, 10]
    }
}
#endif
