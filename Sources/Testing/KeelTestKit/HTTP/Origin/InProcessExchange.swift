import HTTPTypes
import KeelHTTP

/// An exchange without a socket that executes the steps of an answer as the reader asks for them.
final class InProcessExchange: Sendable {
    private struct State {
        var steps: ArraySlice<HTTPTestAnswer.Step> = []
        var request: Int?
        var trailers: HTTPFields?
        var missing: Int?
        var lateBody: Int?
        var isLast = false
        var isOver = false
    }

    private let call: HTTPCall
    private let host: InProcessHTTPNetwork.Host
    private let connection: Int
    private let isReused: Bool
    private let isShutDown: Watched<Bool>
    private let release: @Sendable () -> Void
    private let state = Watched(State())

    init(
        _ call: HTTPCall,
        _ host: InProcessHTTPNetwork.Host,
        on connection: Int,
        isReused: Bool,
        isShutDown: Watched<Bool>,
        _ release: @escaping @Sendable () -> Void
    ) {
        self.call = call
        self.host = host
        self.connection = connection
        self.isReused = isReused
        self.isShutDown = isShutDown
        self.release = release
    }

    deinit {
        hangUp()
    }

    func head(clock: any Clock<Duration>) async throws(TransportError) -> HTTPReply {
        do throws(TransportError) {
            try await begin(clock)
            while true {
                guard let step = takeStep() else { throw TransportError(.protocolViolation) }
                switch step {
                case .informational, .partialHead: continue
                case .head(let head, let coding, _):
                    let isHuge = head.headerFields.contains { $0.value.utf8.count > 65_536 }
                    if isHuge { throw TransportError(.protocolViolation, phase: .awaitHead) }
                    return reply(head, coding, clock)
                default: try await pass(step, clock, .awaitHead)
                }
            }
        } catch {
            if error.code == .cancelled { hangUp() } else { _ = end() }
            throw error
        }
    }

    private func reply(
        _ head: HTTPResponse,
        _ coding: HTTPTestAnswer.Coding,
        _ clock: any Clock<Duration>
    ) -> HTTPReply {
        var head = head
        if case .length(let length) = coding {
            state.change { $0.missing = length }
            if head.headerFields[.contentLength] == nil {
                head.headerFields[.contentLength] = "\(length)"
            }
        }
        let closes = head.headerFields[.connection] == "close" || coding == .untilClose
        state.change { $0.isLast = closes }
        return HTTPReply(
            head: head,
            body: HTTPByteStream(trailers: { self.state.value.trailers }) {
                () async throws(TransportError) in try await self.read(clock)
            },
            connection: ConnectionInfo(
                id: "\(connection)",
                isReused: isReused,
                version: host.script.version == .http1 ? "HTTP/1.1" : "HTTP/2"
            )
        )
    }

    // MARK: The request

    private func begin(_ clock: any Clock<Duration>) async throws(TransportError) {
        let head = call.head
        var seen = HTTPTestRequest(
            method: head.method.rawValue,
            target: head.path ?? "/",
            version: host.script.version == .http1 ? "HTTP/1.1" : "HTTP/2"
        )
        seen.fields = [HTTPTestRequest.Field("host", head.authority ?? "")]
        seen.fields += head.headerFields.joiningCookies.map { .init($0.name.rawName, $0.value) }
        if let length = call.body?.length {
            seen.fields.append(.init("content-length", "\(length)"))
        }
        let arrived = seen
        let number = connection
        let request = host.journal.change { $0.begin(arrived, on: number) }
        state.change { $0.request = request }
        let queued = host.nextAnswer()
        if host.script.version == .silentHTTP2 { try await wait(.awaitHead) }
        switch queued?.reading ?? .wholeRequest {
        case .wholeRequest: try await takeBody(request, upTo: .max)
        case .headFirst: state.change { $0.lateBody = request }
        case .atMost(let limit): try await takeBody(request, upTo: limit)
        }
        var answer = queued
        if answer == nil {
            do {
                answer = try await host.script.handler(host.journal.value.requests[request])
            } catch {
                answer = .text("\(error)", status: .internalServerError)
            }
        }
        let steps = answer?.steps(answering: head.method.rawValue) ?? []
        state.change { $0.steps = steps[...] }
    }

    private func takeBody(_ request: Int, upTo limit: Int) async throws(TransportError) {
        var count = 0
        if let body = call.body, limit > 0 {
            let stream: HTTPByteStream
            do throws(TransportError) {
                stream = try await body.open()
                var pieces = stream.makeAsyncIterator()
                while count < limit, let piece = try await pieces.next() {
                    count += piece.count
                    host.journal.change { $0.receive(piece, of: request, limit: .max) }
                }
            } catch {
                if error.code == .cancelled { throw error }
                throw TransportError(.bodyProducerFailed, cause: error)
            }
            if count < limit, let length = body.length, length != Int64(count) {
                throw TransportError(.invalidRequest, processed: .maybe)
            }
        }
        if count < limit { host.journal.change { $0.requests[request].isComplete = true } }
    }

    // MARK: The answer

    private func read(
        _ clock: any Clock<Duration>
    ) async throws(TransportError) -> ArraySlice<UInt8>? {
        let next: @Sendable () async throws(TransportError) -> ArraySlice<UInt8>? = {
            () async throws(TransportError) in try await self.nextPiece(clock)
        }
        do throws(TransportError) {
            guard let idle = call.timeouts.idle else { return try await next() }
            return try await Deadline(in: idle, on: clock).run(
                throwing: TransportError(.responseTimeout, phase: .readBody),
                next
            )
        } catch {
            if error.code == .cancelled { hangUp() } else { _ = end() }
            throw error.located(at: call.redactedURL)
        }
    }

    private func nextPiece(
        _ clock: any Clock<Duration>
    ) async throws(TransportError) -> ArraySlice<UInt8>? {
        while let step = takeStep() {
            switch step {
            case .piece(let bytes):
                let (request, part) = state.change { state in
                    // Bytes beyond the announced length are not part of the response.
                    let part = bytes.prefix(state.missing ?? .max)
                    if part.count < bytes.count { state.isLast = true }
                    state.missing = state.missing.map { $0 - part.count }
                    return (state.request ?? 0, part)
                }
                host.journal.change { $0.requests[request].sentBytes += bytes.count }
                if part.isEmpty { continue }
                return part
            case .end(let trailers):
                state.change { $0.trailers = trailers }
                try await takeLateBody()
                if (state.value.missing ?? 0) > 0, call.head.method != .head { continue }
                finish()
                return nil
            default: try await pass(step, clock, .readBody)
            }
        }
        if (state.value.missing ?? 0) > 0, !state.value.isOver, call.head.method != .head {
            throw TransportError(.truncatedBody)
        }
        try await takeLateBody()
        finish()
        return nil
    }

    private func takeLateBody() async throws(TransportError) {
        let late = state.change { $0.lateBody.take() }
        if let late { try await takeBody(late, upTo: .max) }
    }

    private func takeStep() -> HTTPTestAnswer.Step? {
        state.change { $0.steps.popFirst() }
    }

    /// Executes a step that yields neither a head nor a piece of the body.
    private func pass(
        _ step: HTTPTestAnswer.Step,
        _ clock: any Clock<Duration>,
        _ phase: TransportError.Phase
    ) async throws(TransportError) {
        switch step {
        case .pause(let duration):
            do {
                try await clock.sleep(for: duration)
            } catch {
                throw TransportError(.cancelled, phase: phase)
            }
        case .raw(let bytes):
            let isBroken = bytes.starts(with: Array("HTTP/1.1 200 OK\r\nTransfer".utf8))
            guard isBroken else { throw TransportError(.protocolViolation, phase: .awaitHead) }
            // The only raw answer with a valid head: its coding is broken after the first chunk.
            let steps: [HTTPTestAnswer.Step] = [
                .head(HTTPResponse(status: .ok), .chunked, isWhole: false),
                .piece(Array("half".utf8)[...]), .interrupt(.bytes([])),
            ]
            state.change { $0.steps = steps[...] }
        case .interrupt(let action):
            try await interrupt(action, phase)
        case .informational, .head, .partialHead, .piece, .end: break
        }
    }

    private func interrupt(
        _ action: HTTPTestAnswer.Action,
        _ phase: TransportError.Phase
    ) async throws(TransportError) {
        let isEarly = phase == .awaitHead
        switch action {
        case .stall: try await wait(phase)
        case .reset where host.script.version == .http1 && !isEarly,
            .goAway(_, true) where !isEarly:
            throw TransportError(.connectionLost, phase: phase)
        case .resetStream(7):
            throw TransportError(.streamRefused, phase: phase, processed: .no)
        case .goAway(_, false):
            throw TransportError(.streamRefused, phase: phase, processed: .no)
        case .resetStream where host.script.version != .http1:
            throw TransportError(.streamReset, phase: phase)
        case .bytes: throw TransportError(.protocolViolation, phase: phase)
        default:
            guard isEarly else {
                let isShort = host.script.version == .http1
                throw TransportError(isShort ? .truncatedBody : .connectionLost, phase: phase)
            }
            var error = TransportError(isReused ? .staleConnection : .connectionLost, phase: phase)
            error.reusedConnection = isReused
            throw error
        }
    }

    /// Waits until the call is canceled or the transport is shut down.
    private func wait(_ phase: TransportError.Phase) async throws(TransportError) {
        do {
            _ = try await isShutDown.wait { $0 ? true : nil }
        } catch {
            throw TransportError(.cancelled, phase: phase)
        }
        throw TransportError(.clientShutdown, phase: phase)
    }

    // MARK: The end

    /// Ends the exchange; returns its request, or nil if it was over.
    private func end() -> Int? {
        state.change { state -> Int? in
            guard !state.isOver else { return nil }
            state.isOver = true
            return state.request
        }
    }

    private func finish() {
        guard let request = end() else { return }
        host.journal.change { $0.requests[request].isAnswered = true }
        if !state.value.isLast { release() }
    }

    private func hangUp() {
        guard let request = end() else { return }
        let hangUp = HTTPTestDisconnect(request: request, connection: connection)
        host.journal.change { $0.disconnects.append(hangUp) }
    }
}
