internal import HTTPTypes
internal import KeelHTTP
internal import KeelHTTPAuthentication
internal import KeelStorageAdapting
internal import Synchronization

final class FirestoreConnection: Sendable {
    /// The header field that requests Keel's extensions, and in which the server confirms them.
    static let extensionField = HTTPField.Name.known("Keel-Protocol")

    /// The number of seconds that the caller still waits; the server then stops its work.
    ///
    /// https://cloud.google.com/apis/docs/system-parameters
    private static let timeoutField = HTTPField.Name.known("X-Server-Timeout")

    let isExtended: Bool
    private let client: NetworkClient
    private let hasShownExtensions = Atomic(false)

    init(_ configuration: FirestoreStorageAdapter.Configuration, transport: any HTTPTransport) {
        isExtended = configuration.isExtended
        var settings = NetworkClient.Configuration(baseURL: configuration.server)
        settings.timeout = configuration.timeout
        settings.responseLimit = configuration.maximumReplySize
        settings.redirects = .never
        // Retries belong to a retrying adapter on top, which distinguishes reads from writes.
        settings.retry = .attempts(1)
        if configuration.isExtended { settings.defaultHeaders[Self.extensionField] = "1" }
        if let tokens = configuration.authentication.source(over: transport) {
            settings.authorize(with: tokens)
        }
        client = NetworkClient(settings, transport: transport)
    }

    /// - Throws: The server's error, or the reason why there is no valid reply.
    func reply(to call: FirestoreCall) async throws(StorageError) -> FirestoreJSON {
        var call = call
        if let left = StorageContext.current.timeLeft {
            guard left > .zero else {
                throw StorageError(.timeout, "the time limit expired before the call was sent")
            }
            call.headers[Self.timeoutField] = "\(left / .seconds(1))"
        }
        var options = HTTPCallOptions()
        if let attempts = StorageContext.current.attempts {
            options.pin = attempts.remembered { SessionPin() }
        }
        let response: NetworkResponse
        do throws(TransportError) {
            response = try await client.response(to: call, options: options).get()
        } catch {
            throw StorageError(transport: error, isWrite: call.isWrite)
        }
        let json = try? FirestoreJSON(parsing: response.body, deepest: Self.deepest)
        guard response.status.kind == .successful else {
            throw FirestoreRefusal(status: response.status.code, json).error(of: call)
        }
        try checkExtensions(response, call)
        guard let json else {
            throw .invalidReply("its body is not JSON", isWrite: call.isWrite)
        }
        let refusal = json["error"] ?? json.elements?.lazy.compactMap { $0["error"] }.first
        if let refusal {
            // A streamed reply has sent its head before an error occurs.
            let status = refusal["code"]?.wholeNumber.map(Int.init) ?? response.status.code
            throw FirestoreRefusal(status: status, json).error(of: call)
        }
        return json
    }

    /// Verifies that the server supports Keel's extensions, before a request that another server would misinterpret.
    func requireExtensions() async throws(StorageError) {
        guard isExtended, !hasShownExtensions.load(ordering: .relaxed) else { return }
        do throws(StorageError) {
            _ = try await reply(to: FirestoreCall(get: ["keel", "v1", "schema"]))
        } catch {
            let isStranger = [.unknown, .databaseNotFound, .unsupported, .invalidArgument]
                .contains(error.code)
            throw isStranger ? .invalidReply(Self.missingExtensions) : error
        }
    }

    private static let missingExtensions =
        "it does not support Keel's protocol extensions; for another server than `keel serve`, "
        + "make the configuration with google or emulator"

    private func checkExtensions(
        _ response: NetworkResponse,
        _ call: FirestoreCall
    ) throws(StorageError) {
        guard isExtended else { return }
        guard response.head.headerFields[Self.extensionField] != nil else {
            throw .invalidReply(Self.missingExtensions, isWrite: call.isWrite)
        }
        hasShownExtensions.store(true, ordering: .relaxed)
    }

    private static let deepest = FirestoreJSON.deepest + 8
}
