import Foundation
import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

/// An adapter with a scripted server, and its requests.
struct Scripted {
    let transport: ScriptedHTTPTransport
    let adapter: FirestoreStorageAdapter

    /// Returns an adapter for a Keel server.
    static func keel(
        _ answers: [ScriptedHTTPTransport.Answer] = [],
        authentication: FirestoreAuthentication = .none,
        change: (inout FirestoreStorageAdapter.Configuration) -> Void = { _ in }
    ) throws -> Scripted {
        let server = try #require(URL(string: "http://127.0.0.1"))
        var configuration = FirestoreStorageAdapter.Configuration.keel(
            server,
            authentication: authentication
        )
        change(&configuration)
        return Scripted(configuration, answers)
    }

    /// Returns an adapter for Google's Firestore.
    static func google(
        _ answers: [ScriptedHTTPTransport.Answer] = [],
        authentication: FirestoreAuthentication = .none
    ) -> Scripted {
        Scripted(.google(project: "p", authentication: authentication), answers)
    }

    init(
        _ configuration: FirestoreStorageAdapter.Configuration,
        _ answers: [ScriptedHTTPTransport.Answer]
    ) {
        transport = ScriptedHTTPTransport(answers)
        adapter = FirestoreStorageAdapter(configuration, transport: transport)
    }

    /// The methods and paths of the requests so far.
    var requests: [String] {
        transport.calls.map { "\($0.head.method.rawValue) \($0.head.path ?? "")" }
    }

    /// Returns the message of a request.
    func message(_ position: Int) throws -> FirestoreJSON {
        try #require(transport.calls.count > position)
        return try FirestoreJSON(parsing: transport.calls[position].body)
    }

    /// Commits one batch.
    @discardableResult
    func commit(
        id: String? = nil,
        _ writes: [DocumentWrite],
        reads: TransactionReads? = nil
    ) async throws -> CommitReceipt {
        let results = try await adapter.commit([WriteBatch(id: id, writes, reads: reads)])
        return try #require(results.first).get()
    }
}

extension ScriptedHTTPTransport.Answer {
    /// Returns a message of a server with Keel's extensions.
    static func keel(_ text: String, status: HTTPResponse.Status = .ok) -> Self {
        var headers: HTTPFields = [:]
        if let field = HTTPField.Name("Keel-Protocol") { headers[field] = "1" }
        return .json(text, status: status, headers: headers)
    }

    /// The reply to the request that verifies a Keel server.
    static let schema = keel(#"{"capabilities": []}"#)

    /// Returns an error in the form of Google's servers.
    static func refusal(_ code: Int, _ status: String, _ message: String = "refused") -> Self {
        .json(
            #"{"error":{"code":\#(code),"status":"\#(status)","message":"\#(message)"}}"#,
            status: HTTPResponse.Status(code: code)
        )
    }
}

/// Expects a storage error and returns it.
@discardableResult
func expect(
    _ code: StorageError.Code,
    effect: StorageError.Effect = .none,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async -> StorageError? {
    do {
        try await body()
        Issue.record("expected \(code), nothing was thrown", sourceLocation: sourceLocation)
    } catch let error as StorageError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        #expect(error.effect == effect, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record(error, "expected \(code)", sourceLocation: sourceLocation)
    }
    return nil
}

/// Returns the text of a document in a message of Google's.
func document(_ path: String, _ fields: String = "{}", second: Int = 1) -> String {
    """
    {"name": "projects/p/databases/(default)/documents/\(path)", "fields": \(fields), \
    "createTime": "1970-01-01T00:00:01Z", "updateTime": "1970-01-01T00:00:0\(second).000002Z"}
    """
}
