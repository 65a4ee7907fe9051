import HTTPTypes
import KeelAnalytics
import KeelHTTP
import KeelHTTPCompression

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct VendorClient: Sendable {
    private let client: NetworkClient
    private let now: @Sendable () -> Date

    /// Creates a client for a server, at a base URL whose path is kept; `takesGzip` as the vendor documents.
    init(_ host: URL, _ connection: DestinationConnection, takesGzip: Bool) {
        var configuration = NetworkClient.Configuration(baseURL: host)
        configuration.timeout = connection.timeout
        configuration.clock = connection.clock
        configuration.middleware = connection.middleware
        if takesGzip, connection.compressesBodies {
            configuration.attemptMiddleware.append(RequestCompression())
        }
        configuration.attemptMiddleware.append(PermitMiddleware())
        // The delivery retries: it knows the journal, the guarantee and the other batches.
        configuration.retry = .never
        // A redirected POST may become a GET, or carry the key to another host.
        configuration.redirects = .never
        // Responses are short; even those that list the records of a large batch stay below this.
        configuration.responseLimit = 4 * 1024 * 1024
        client = NetworkClient(configuration, transport: connection.transport)
        now = connection.now
    }

    var time: Date { now() }

    /// Posts JSON and returns the response, whatever its status, or the outcome of a failed exchange.
    func post(
        _ body: [UInt8],
        to path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        authorization: String? = nil
    ) async -> Answer {
        // Checked before each request, as a batch may take several.
        guard DeliveryPermit.current?.isValid != false else {
            return .outcome(DeliveryPermit.withdrawn)
        }
        var upload = Upload(path: path, query: query, json: body)
        if let authorization { upload.headers[.authorization] = authorization }
        return switch await client.response(to: upload) {
        case .success(let response): .reply(response)
        case .failure(let error): .outcome(DeliveryOutcome(error))
        }
    }

    /// Encodes each record of a batch with `form` and all with `body`, posts them in one request, and has `judge` judge
    /// a successful response.
    func deliver<Form>(
        _ batch: [AnalyticsRecord],
        as form: (AnalyticsRecord) throws(AnalyticsRejection) -> Form,
        to path: EndpointPath,
        authorization: String? = nil,
        body: ([Form]) -> [UInt8],
        judge: (NetworkResponse, PreparedBatch<Form>) -> DeliveryOutcome
    ) async -> DeliveryOutcome {
        let prepared = PreparedBatch(batch, form)
        guard !prepared.forms.isEmpty else { return .settled(rejected: prepared.withheld) }
        switch await post(body(prepared.forms), to: path, authorization: authorization) {
        case .outcome(let outcome): return outcome
        case .reply(let reply):
            let outcome =
                reply.status.kind == .successful
                ? judge(reply, prepared) : DeliveryOutcome(refusal: reply)
            return outcome.placed(at: prepared.places, withheld: prepared.withheld)
        }
    }

    enum Answer {
        /// The server responded.
        case reply(NetworkResponse)
        /// The exchange failed, with this outcome.
        case outcome(DeliveryOutcome)
    }

    private struct Upload: ServiceEndpoint {
        let path: EndpointPath
        let query: HTTPQuery
        let json: [UInt8]
        var headers: HTTPFields = [.userAgent: LibraryName.full]

        var method: HTTPRequest.Method { .post }
        var body: RequestBody? { .bytes(json, contentType: "application/json") }
    }
}

/// Stops requests for a batch that the user no longer consents to.
///
/// Placed below the app's middleware, which may have waited, for example for a rate limit.
struct PermitMiddleware: HTTPMiddleware, DeadlineEnforcing {
    func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard DeliveryPermit.current?.isValid != false else {
            throw TransportError(.cancelled, "The user has withdrawn consent.", processed: .no)
        }
        return try await next(call)
    }
}

enum LibraryName {
    static let name = "keel"
    static let version = "0.1.0"
    static let full = "\(name)/\(version)"
}
