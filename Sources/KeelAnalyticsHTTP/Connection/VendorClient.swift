import HTTPTypes
import KeelAnalytics
import KeelHTTP
import KeelHTTPCompression

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Posts bodies to a vendor's server and tells answers from failures.
struct VendorClient: Sendable {
    private let client: NetworkClient
    private let now: @Sendable () -> Date

    /// Creates a client for the server at `host`.
    ///
    /// - Parameters:
    ///   - host: The address that paths are appended to, its own path kept.
    ///   - connection: How it is reached.
    ///   - takesGzip: Whether the vendor says that it reads compressed bodies.
    init(_ host: URL, _ connection: DestinationConnection, takesGzip: Bool) {
        var configuration = NetworkClient.Configuration(baseURL: host)
        configuration.timeout = connection.timeout
        configuration.clock = connection.clock
        configuration.middleware = connection.middleware
        if takesGzip, connection.isCompressing {
            configuration.attemptMiddleware.append(RequestCompression())
        }
        configuration.attemptMiddleware.append(PermitMiddleware())
        // The delivery waits and repeats: it knows the journal, the guarantee and the other batches.
        configuration.retry = .never
        // A redirected POST may arrive as a GET, or with the key at another host.
        configuration.redirects = .never
        // Answers are short; those that list the records of a large batch stay below this.
        configuration.responseLimit = 4 * 1024 * 1024
        client = NetworkClient(configuration, transport: connection.transport)
        now = connection.now
    }

    /// The time.
    var time: Date { now() }

    /// Posts a JSON text and waits for the answer.
    ///
    /// - Parameters:
    ///   - body: The text.
    ///   - path: The path below the host.
    ///   - query: The query.
    ///   - authorization: The value of the `Authorization` field.
    /// - Returns: The answer, whatever its status, or the outcome that a failed exchange means.
    func post(
        _ body: [UInt8],
        to path: EndpointPath,
        query: HTTPQuery = HTTPQuery(),
        authorization: String? = nil
    ) async -> Answer {
        // Right before each request: a batch may be several.
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

    /// What a request came to.
    enum Answer {
        /// The server answered.
        case reply(NetworkResponse)
        /// It did not, which means this.
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

/// Lets no request begin for a batch that the user no longer consents to.
///
/// Below the layers of the app: one of them may have waited, for its turn in a limit on the rate for
/// example.
struct PermitMiddleware: HTTPMiddleware, DeadlineKeeping {
    func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard DeliveryPermit.current?.isValid != false else {
            throw TransportError(.cancelled, "The user has taken consent back.", processed: .no)
        }
        return try await next(call)
    }
}

/// What the vendors are told about who sends.
enum LibraryName {
    /// The name of the library.
    static let name = "keel"
    /// Its version.
    static let version = "0.1.0"
    /// Both, as a User-Agent field has them.
    static let full = "\(name)/\(version)"
}
