import Foundation
import HTTPTypes
import Keel
import KeelServing
import KeelStorageAdapting
import Testing

// MARK: Who calls

/// The claims of a verified token: signature, time, issuer and audience are in order.
private struct Claims: Sendable {
    var user: String
    var tenant: String
}

/// Returns whether a request can concern the documents of its caller alone.
private func isPersonal(_ head: HTTPRequest) -> Bool {
    let path = head.path ?? ""
    guard path.hasPrefix("/sync/") else {
        let open = ["/v1/projects/", "/keel/v1/schema", "/google.firestore.v1.Firestore/"]
        return open.contains { path.hasPrefix($0) }
    }
    // Without one of these parameters, a client follows the changes of all documents.
    let interests: Set = ["document", "collection", "group", "query"]
    let items = URLComponents(string: path)?.percentEncodedQueryItems ?? []
    return items.contains { interests.contains($0.name) }
}

private func settings(
    verify: @escaping @Sendable (String) async throws -> Claims
) -> StorageServer.Configuration {
    var configuration = StorageServer.Configuration()
    configuration.allowedAuthorities = ["api.example.org"]
    configuration.authenticate = { head async throws(StorageError) -> StoragePrincipal? in
        guard isPersonal(head) else {
            throw StorageError(.permissionDenied, "this address is not for users")
        }
        let field = head.headerFields[.authorization] ?? ""
        guard field.lowercased().hasPrefix("bearer ") else {
            throw StorageError(.unauthenticated, "the request has no token")
        }
        let claims: Claims
        do { claims = try await verify(String(field.dropFirst("bearer ".count))) } catch {
            throw StorageError(.unauthenticated, "the token is not valid")
        }
        return StoragePrincipal(id: claims.user, claims: ["tenant": .string(claims.tenant)])
    }
    return configuration
}

// MARK: What a caller may do

/// An adapter that lets each user read and write only what is below `users/ID`.
private struct OwnedStorageAdapter<Upstream: StorageAdapter>: StorageAdapter {
    private let upstream: Upstream
    /// The tenant of the users that may use the store; nil for any.
    private let tenant: String?

    init(_ upstream: Upstream, tenant: String? = nil) {
        self.upstream = upstream
        self.tenant = tenant
    }

    var capabilities: StorageCapabilities { upstream.capabilities }
    var sharedRecords: (any SharedRecords)? { upstream.sharedRecords }

    /// Returns the caller; nil for the app, and for what the server reads for all listeners.
    private func caller() throws(StorageError) -> StoragePrincipal? {
        guard let caller = StorageContext.current.principal else { return nil }
        if let tenant, caller.claims["tenant"] != .string(tenant) {
            throw StorageError(.permissionDenied, "the caller belongs to another tenant")
        }
        return caller
    }

    private func check(_ path: String) throws(StorageError) {
        guard let caller = try caller() else { return }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        // By bytes, as stores compare them: to Swift, some texts of different bytes are equal.
        guard segments.count > 1, segments[0].utf8.elementsEqual("users".utf8),
            segments[1].utf8.elementsEqual(caller.id.utf8)
        else {
            throw StorageError(.permissionDenied, "it belongs to somebody else", resource: path)
        }
    }

    private func check(_ scope: DocumentQuery.Scope) throws(StorageError) {
        switch scope {
        case .collection(let path): try check(path.string)
        case .group(_, let ancestor), .everything(let ancestor):
            try check(ancestor?.string ?? "")
        }
    }

    private func check(_ reads: TransactionReads?) throws(StorageError) {
        for read in reads?.documents ?? [] { try check(read.path.string) }
        for read in reads?.queries ?? [] { try check(read.query.scope) }
    }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {
        guard try caller() == nil else {
            throw StorageError(.permissionDenied, "only the app declares indexes")
        }
        try await upstream.prepare(schema)
    }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        switch request.operation {
        case .documents(let paths): for path in paths { try check(path.string) }
        case .query(let query), .aggregate(let query, _): try check(query.scope)
        case .collections(let parent): try check(parent?.string ?? "")
        }
        try check(request.reads)
        return try await upstream.read(request)
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        for batch in batches {
            for write in batch.writes { try check(write.path.string) }
            try check(batch.reads)
        }
        return try await upstream.commit(batches)
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        _ = try caller()
        // A stream of Firestore's protocol reads the whole log, for targets that were checked.
        let scope = request.scope
        if !scope.isEverything {
            for path in scope.documents { try check(path.string) }
            for path in scope.collections { try check(path.string) }
            if !scope.groups.isEmpty { try check("") }
            for selection in scope.selections { try check(selection.scope) }
        }
        if let query = request.query { try check(query.scope) }
        return try await upstream.changes(request)
    }
}

@Suite("Guide: access to a served store", .timeLimit(.minutes(1)))
struct GuideAccessExamples {
    private struct NotSignedIn: Error {}

    private static let configuration = settings { token in
        let users = ["token-a": Claims(user: "ann", tenant: "red")]
        let others = ["token-b": Claims(user: "bob", tenant: "blue")]
        guard let claims = users[token] ?? others[token] else { throw NotSignedIn() }
        return claims
    }

    private let address = URL(string: "http://127.0.0.1:8080") ?? .temporaryDirectory

    private func client(
        _ server: StorageServer,
        _ token: String,
        database: String = "(default)"
    ) -> StorageClient {
        let configuration = FirestoreStorageAdapter.Configuration.keel(
            address,
            database: database,
            authentication: .token(token)
        )
        let transport = HandlerTransport(server)
        return StorageClient(FirestoreStorageAdapter(configuration, transport: transport))
    }

    /// Returns the code of the error of a call; nil if the call succeeds.
    private func failure(_ call: () async throws -> Void) async -> StorageError.Code? {
        do {
            try await call()
            return nil
        } catch {
            return (error as? StorageError)?.code
        }
    }

    @Test("Each user reads and writes own documents only")
    func owners() async throws {
        let store = InMemoryStorageAdapter()
        let server = StorageServer(
            adapter: OwnedStorageAdapter(store),
            configuration: Self.configuration
        )
        let (ann, bob) = (client(server, "token-a"), client(server, "token-b"))
        try await ann.setDocument("users/ann/notes/1", ["text": "Hello"])
        #expect(try await ann.getDocument("users/ann/notes/1")["text"] == "Hello")
        #expect(try await ann.queryDocuments(DocumentQuery("users/ann/notes")).count == 1)

        let read = await failure { _ = try await bob.getDocument("users/ann/notes/1") }
        let removed = await failure { try await bob.deleteDocument("users/ann/notes/1") }
        let everybody = await failure {
            _ = try await bob.queryDocuments(DocumentQuery(group: "notes"))
        }
        #expect([read, removed, everybody].allSatisfy { $0 == .permissionDenied })
        let stranger = client(server, "token-x")
        let unknown = await failure { _ = try await stranger.getDocument("users/ann/notes/1") }
        #expect(unknown == .unauthenticated)
        server.shutDown()
    }

    @Test("A user follows own documents only")
    func followers() async throws {
        let adapter = OwnedStorageAdapter(InMemoryStorageAdapter())
        let server = StorageServer(adapter: adapter, configuration: Self.configuration)
        let pages = [
            ("/sync/all/changes?collection=users/ann/notes", 200),
            ("/sync/all/changes?collection=users/bob/notes", 403),
            ("/sync/all/changes?group=notes", 403),
            ("/sync/all/changes", 403),
            ("/%73ync/all/changes", 403),
            ("/metrics", 403),
        ]
        for (path, status) in pages {
            let request = HTTPRequest(
                method: .get,
                scheme: "http",
                authority: "127.0.0.1:8080",
                path: path,
                headerFields: [.authorization: "Bearer token-a"]
            )
            let reply = await server.respond(to: HTTPCall(request))
            #expect(reply.head.status.code == status, "\(path)")
        }
        server.shutDown()
    }

    @Test("A store for each tenant")
    func tenants() async throws {
        let folder = URL.temporaryDirectory.appending(path: "keel-guide-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let configuration = Self.configuration

        var stores: [String: any StorageAdapter] = [:]
        for tenant in ["red", "blue"] {
            let file = folder.appending(path: "\(tenant).sqlite")
            let store = try SQLiteStorageAdapter(at: .file(file))
            stores[tenant] = OwnedStorageAdapter(store, tenant: tenant)
        }
        let server = StorageServer(
            adapter: OwnedStorageAdapter(InMemoryStorageAdapter(), tenant: "none"),
            databases: stores,
            configuration: configuration
        )

        let ann = client(server, "token-a", database: "red")
        try await ann.setDocument("users/ann/notes/1", ["text": "Hello"])
        for database in ["blue", "(default)"] {
            let elsewhere = client(server, "token-a", database: database)
            let read = await failure { _ = try await elsewhere.getDocument("users/ann/notes/1") }
            #expect(read == .permissionDenied)
        }
        server.shutDown()
    }
}
