import HTTPTypes
import KeelHTTP
import KeelHTTPCaching
import KeelTestKit
import Synchronization

extension StackLife {
    private struct Operation: ServiceEndpoint {
        var method: HTTPRequest.Method
        var name: String
        /// Identifies an operation that may act only once; empty if it does not act.
        var number: String
        var body: RequestBody?
        var options: HTTPCallOptions
        var path: EndpointPath { "/\(name)" }
        var headers: HTTPFields { number.isEmpty ? [:] : [StackOrigin.operation: number] }
    }

    /// The possible users of a call, from its beginning on.
    private struct Asker {
        let place: Place
        let plan: StackPlan.Call
        let operation: Operation
        let client: StackPlan.Client
        let truth: Truth
        let start: Int
        let changes: [String: Int]
        let isRestarted: Bool

        /// The users whose bytes the call may receive.
        var users: Set<String> {
            guard plan.authentication != .none else { return [Truth.nobody] }
            // A redirect to another origin removes the user.
            if client.layers.contains(.bearer) { return truth.since(start).union([Truth.nobody]) }
            if client.layers.contains(.basic) { return ["basic\(plan.client)", Truth.nobody] }
            return [Truth.nobody]
        }

        var app: String {
            client.layers.isDisjoint(with: [.fieldAbove, .fieldBelow]) ? "none" : place.account
        }
    }

    /// Makes a call, cancels it if the plan says so, and checks the result.
    func make(_ call: StackPlan.Call, _ place: Place, isRestarted: Bool) async {
        if call.delay > .zero { try? await clock.sleep(for: call.delay) }
        let number = calls.withLock { calls in
            calls.serial += 1
            calls.pending[calls.serial] = call
            return calls.serial
        }
        ledger.trace("\(clock.elapsed) call \(number): \(call)")
        let asker = Asker(
            place: place,
            plan: call,
            operation: operation(call, number),
            client: plan.clients[call.client],
            truth: truths[call.client],
            start: truths[call.client].now,
            changes: changes.withLock { $0 },
            isRestarted: isRestarted
        )
        let task = Task { await self.carryOut(asker) }
        if let time = call.cancelled {
            ledger.count(.cancelled)
            try? await clock.sleep(for: time)
            task.cancel()
        }
        await task.value
        ledger.trace("\(clock.elapsed) call \(number) has ended")
        calls.withLock { $0.pending[number] = nil }
    }

    private func operation(_ call: StackPlan.Call, _ number: Int) -> Operation {
        var options = HTTPCallOptions()
        options.authentication = call.authentication
        options.cachePolicy = call.policy
        let method: HTTPRequest.Method =
            switch call.kind {
            case .post: .post
            case .put: .put
            case .upload: call.isPost ? .post : .put
            case .head: .head
            default: .get
            }
        return Operation(
            method: method,
            name: "\(call.path)",
            number: [.get, .head].contains(method) ? "" : "\(number)",
            body: body(call),
            options: options
        )
    }

    private func body(_ call: StackPlan.Call) -> RequestBody? {
        switch call.kind {
        case .post, .put: return .bytes([1, 2, 3])
        case .upload:
            let length = call.hasLength ? Int64(call.pieces) : nil
            let body = HTTPBody(length: length, isReplayable: call.isReplayable) {
                [count = call.pieces] () async throws(TransportError) in
                .chunks(Array(repeating: [7], count: count))
            }
            return .stream(body, contentType: "text/plain")
        default: return nil
        }
    }

    private func carryOut(_ asker: Asker) async {
        let start = clock.elapsed
        var isLimited = true
        do {
            switch asker.plan.kind {
            case .raw:
                isLimited = false
                let reply = try await asker.place.client.send(raw(asker.operation))
                let bytes = try await reply.body.collect(upTo: 1 << 20)
                judge(reply.head, bytes, reply.cacheResult, asker)
            case .stream:
                let reply = try await asker.place.client.stream(
                    asker.operation,
                    timeoutCovers: .wholeResponse
                )
                let bytes = try await reply.body.collect(upTo: 1 << 20)
                judge(reply.head, bytes, reply.cacheResult, asker)
            case .dropped:
                let reply = try await asker.place.client.stream(asker.operation)
                check(start)
                isLimited = false
                if asker.plan.pieces > 3 {
                    var pieces = reply.body.makeAsyncIterator()
                    _ = try await pieces.next()
                }
            default:
                isLimited = asker.plan.kind != .upload
                let response = try await asker.place.client.response(to: asker.operation).get()
                judge(response.head, response.body, response.cacheResult, asker)
                if asker.plan.kind == .upload { countUpload(asker.operation, start) }
            }
        } catch {
            judge(error, asker)
        }
        if isLimited { check(start) }
    }

    private func raw(_ operation: Operation) -> HTTPCall {
        HTTPCall(
            HTTPRequest("https://\(StackOrigin.home)/\(operation.name)"),
            timeouts: HTTPTimeouts(firstByte: .seconds(20), idle: .seconds(60)),
            options: operation.options,
            id: HTTPCallID(UInt64(numbers.number(0 ... .max)))
        )
    }

    // MARK: Judging

    private func check(_ start: Duration) {
        let time = clock.elapsed - start
        if time > Self.limit { ledger.fail("a call with a limit of \(Self.limit) took \(time)") }
    }

    private func countUpload(_ operation: Operation, _ start: Duration) {
        ledger.count(.uploads)
        guard let opening = origin.opening(of: operation.number), opening - start > Self.limit
        else { return }
        ledger.count(.waitingUploads)
    }

    private func judge(_ error: any Error, _ asker: Asker) {
        let code =
            (error as? TransportError)?.code ?? (error as? NetworkError)?.transportError?.code
        ledger.trace("  \(asker.plan) failed: \(code.map { "\($0)" } ?? "\(error)")")
        guard asker.plan.kind == .upload, code == .writeTimeout || code == .responseTimeout else {
            return
        }
        let number = asker.operation.number
        if origin.opening(of: number) == nil {
            ledger.fail("an upload that waited was ended as stalled: \(asker.plan)")
        } else if !origin.wasSilent(number) {
            ledger.fail("an upload that moved was ended as stalled: \(asker.plan)")
        }
    }

    private func judge(
        _ head: HTTPResponse,
        _ bytes: [UInt8],
        _ result: HTTPCacheResult?,
        _ asker: Asker
    ) {
        guard head.status == .ok else { return }
        ledger.count(.answers)
        let text = String(decoding: bytes, as: UTF8.self)
        ledger.trace("  \(asker.plan) got \(text.prefix(40)), \(result.map { "\($0)" } ?? "none")")
        guard asker.plan.kind != .head else { return }
        let found = text.split(separator: " ").map(String.init)
        guard found.count >= 5, let version = Int(found[3]), asker.users.contains(found[0]),
            found[1] == "/\(asker.operation.name)",
            found[2] == asker.app
        else {
            let source = result.map { "\($0)" } ?? "no cache"
            return ledger.fail(
                "\(asker.users.sorted()) of \(asker.app) asked for /\(asker.operation.name) and got "
                    + "\(text.prefix(60)) (\(source))"
            )
        }
        judge(version, of: found[4], result, asker)
        switch result {
        case .fresh: ledger.count(.freshHits)
        case .revalidated: ledger.count(.revalidatedHits)
        case .stale: ledger.count(.staleHits)
        default: return
        }
        if asker.isRestarted, found[0] != Truth.nobody { ledger.count(.hitsAfterRestart) }
    }

    /// Checks that a cached response is no older than the last change known before the call.
    private func judge(
        _ version: Int,
        of place: String,
        _ result: HTTPCacheResult?,
        _ asker: Asker
    ) {
        // A call that shares another's exchange may get the state at the beginning of that one.
        let isShared = !asker.client.layers.isDisjoint(with: [
            .coalescing, .sharedCoalescing, .coalescingBelow,
        ])
        if result?.isFromCache == true, !isShared, version < asker.changes[place, default: 0] {
            ledger.fail("\(asker.plan) got version \(version) of \(place), which was changed since")
        }
        // A redirect leads to an address with a query, perhaps with another method.
        guard !asker.operation.number.isEmpty, !place.contains("?"),
            asker.client.layers.contains(.caching)
        else { return }
        changes.withLock { $0[place] = max($0[place, default: 0], version) }
        ledger.count(.changes)
    }
}
