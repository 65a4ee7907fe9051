import HTTPTypes
import KeelCache
import KeelHTTP
import KeelHTTPCaching

/// Runs one case, and judges it like the suite's client.
struct SuiteRun {
    enum Verdict: Sendable, Hashable, CustomStringConvertible {
        case passed
        case failed(String)
        /// The case did not reach the behavior it tests.
        case notSetUp(String)

        var description: String {
            switch self {
            case .passed: "passed"
            case .failed(let reason): "failed: \(reason)"
            case .notSetUp(let reason): "not set up: \(reason)"
            }
        }
    }

    struct Failure: Error {
        var isSetup: Bool
        var reason: String
    }

    struct Response {
        var status: Int
        var fields: HTTPFields
        var text: String
    }

    let test: CacheCase
    let token: String
    private let clock = SuiteClock()
    let origin: SuiteOrigin
    private let cache: HTTPCache

    init(_ test: CacheCase, _ configuration: HTTPCache.Configuration) {
        self.test = test
        token = "token-" + String(repeating: "0", count: 30)
        origin = SuiteOrigin(test, token: token, clock: clock)
        let clock = clock
        let time = CacheClock(
            now: { CacheInstant(microseconds: clock.microseconds) },
            sleep: { _ in }
        )
        cache = HTTPCache(configuration, tier: InMemoryCacheTier(clock: time), clock: time)
    }

    static func field(_ name: String, in fields: HTTPFields) -> String? {
        HTTPField.Name(name).flatMap { fields[$0] }
    }

    func verdict() async -> Verdict {
        do {
            var responses: [Response] = []
            for index in test.requests.indices {
                let response = await fetch(index, after: responses.last)
                responses.append(response)
                try check(response, index)
                await cache.waitForRevalidations()
                if test.requests[index].pauseAfter == true { clock.advance(by: 3) }
            }
            try checkOrigin(responses)
            return .passed
        } catch let failure as Failure {
            return failure.isSetup ? .notSetUp(failure.reason) : .failed(failure.reason)
        } catch { return .failed("\(error)") }
    }

    // MARK: The client

    private func fetch(_ index: Int, after previous: Response?) async -> Response {
        let request = test.requests[index]
        var path = "/test/\(token)"
        if let filename = request.filename { path += "/\(filename)" }
        if let query = request.queryArg { path += "?\(query)" }
        var fields = HTTPFields()
        func append(_ name: String, _ text: String) {
            guard let name = HTTPField.Name(name) else { return }
            fields.append(HTTPField(name: name, value: text))
        }
        if !test.isBrowserOnly {
            append("Pragma", "foo")
            append("Cache-Control", "nothing-to-see-here")
        } else if request.cache == "no-cache" {
            append("Cache-Control", "max-age=0")
        }
        for entry in request.requestHeaders ?? [] {
            let isMagic = request.magicIms == true
            let before = previous.flatMap { Self.field("server-now", in: $0.fields) }
            let now = (isMagic ? before.flatMap { Int64($0) } : nil) ?? clock.milliseconds
            let (name, text) = request.fixed(entry, now: now, base: path)
            append(name, text)
        }
        append("Test-ID", test.id)
        append("Req-Num", String(index + 1))
        let head = HTTPRequest(
            method: HTTPRequest.Method(request.requestMethod ?? "GET") ?? .get,
            scheme: "http",
            authority: "origin.test",
            path: path,
            headerFields: fields
        )
        let body = request.requestBody.map { HTTPBody(Array($0.utf8)) }
        do throws(TransportError) {
            let reply = try await cache.send(HTTPCall(head, body: body), over: origin)
            let bytes = try await reply.body.collect(upTo: .max)
            return Response(
                status: reply.head.status.code,
                fields: reply.head.headerFields,
                text: String(decoding: bytes, as: UTF8.self)
            )
        } catch {
            // A gateway's answer if it gets no response.
            return Response(status: 502, fields: [:], text: "")
        }
    }
}
