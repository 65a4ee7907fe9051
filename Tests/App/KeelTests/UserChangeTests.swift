import Foundation
import HTTPTypes
import Keel
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("A change of user", .timeLimit(.minutes(1)))
struct UserChangeTests {
    private struct Note: Sendable { var id: String }

    private struct NoteDTO: Codable, Sendable, Identifiable, DomainMappable {
        var id: String
        init(domain: Note) { id = domain.id }
        func toDomain() throws(MappingError) -> Note { Note(id: id) }
    }

    private struct PutNote: Endpoint {
        typealias Response = EmptyResponse
        let id: String
        var method: HTTPRequest.Method { .put }
        var path: EndpointPath { "/notes/\(id)" }
    }

    private struct GetNote: Endpoint {
        typealias Response = NoteDTO
        let id: String
        var path: EndpointPath { "/notes/\(id)" }
    }

    private struct NoRenewal: IdentityServer {
        func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
            credentials
        }
    }

    private let transport = ScriptedHTTPTransport(then: .status(.noContent))
    private let session = AuthSession<BearerCredentials>(server: NoRenewal())
    private let memory = ResourceMemory()
    /// An identity that the loader has read before the user changed.
    private let staleIdentity = Watched<String?>(nil)
    private let sender: HTTPOutboxSender
    private let outbox: Outbox
    private let loader: ResourceLoader
    private let notes: EntityRepository<Note>

    init() throws {
        let (session, staleIdentity) = (self.session, self.staleIdentity)
        var configuration = try NetworkClient.Configuration("https://api.example.com/v1")
        configuration.retry = .never
        configuration.authorize(with: session)
        let client = NetworkClient(configuration, transport: transport)
        sender = HTTPOutboxSender(client)
        let storage = StorageClient(InMemoryStorageAdapter())
        // A clock that stands still: no delay ends by itself.
        var settings = Outbox.Configuration()
        settings.clock = TestClock()
        let outbox = Outbox(storage, configuration: settings)
        self.outbox = outbox
        loader = ResourceLoader(
            ledger: CollectionFetchLedger(storage),
            memory: memory,
            identity: {
                if let name = staleIdentity.value { return name }
                return await session.identity
            }
        )
        notes = EntityRepository<Note>(
            "notes",
            remote: RemoteEntities<NoteDTO>(RemoteDataSource(client))
                .find { GetNote(id: $0) }
                .save { PutNote(id: $0.id) }
                .delete { PutNote(id: $0) },
            local: CollectionDataSource(storage.collection("notes", as: NoteDTO.self)),
            loader: loader,
            offline: OfflineWrites<NoteDTO>(outbox) { change in
                switch change {
                case .save(let dto): try OutboxRequest(PutNote(id: dto.id))
                case .delete(let id): try OutboxRequest(PutNote(id: id))
                }
            },
            id: { $0.id }
        )
    }

    /// Signs in with the account as the token.
    private func signIn(_ account: String) async throws {
        try await session.signIn(as: account) { BearerCredentials(accessToken: account) }
    }

    private var tokens: [String?] { transport.calls.map { $0.head.headerFields[.authorization] } }

    @Test("An unsent change waits for the user who made it, and is sent once that user is back")
    func waitsForItsUser() async throws {
        try await signIn("ann")
        try await notes.saveOffline(Note(id: "1"))
        try await signIn("ben")
        var work = BackgroundWork()
        work.add("outbox") { [outbox, sender] in try await outbox.run(sending: sender) }
        work.add(session, notifying: loader, retrying: outbox)
        try await work.run { [outbox, transport, session] in
            try await waitUntil { try await outbox.pending().first?.lastFailure != nil }
            #expect(transport.calls.isEmpty)
            try await session.signIn(as: "ann") { BearerCredentials(accessToken: "ann") }
            try await waitUntil { try await outbox.pending().isEmpty }
        }
        #expect(tokens == ["Bearer ann"])
    }

    @Test("Changes that are sent at once and later carry the token of one user")
    func sendsForOne() async throws {
        try await signIn("ann")
        _ = try await notes.save(Note(id: "1"))
        try await notes.saveOffline(Note(id: "2"))
        #expect(try await outbox.flush(sending: sender))
        #expect(tokens == ["Bearer ann", "Bearer ann"])
    }

    @Test("A change that began for one user is not sent for the next one")
    func refusesTheNext() async throws {
        try await signIn("ann")
        let ann = await session.identity
        staleIdentity.change { $0 = ann }
        try await signIn("ben")
        await expectError(RepositoryError.self, .signInRequired) {
            try await notes.save(Note(id: "1"))
        }
        await expectError(RepositoryError.self, .signInRequired) { try await notes.delete("1") }
        #expect(transport.calls.isEmpty)
    }

    @Test("A fetch that began for one user is not sent for the next one")
    func fetchesForOne() async throws {
        try await signIn("ann")
        let ann = await session.identity
        staleIdentity.change { $0 = ann }
        try await signIn("ben")
        await expectError(RepositoryError.self, .signInRequired) {
            try await notes.entity("1", .networkOnly)
        }
        #expect(transport.calls.isEmpty)
    }

    @Test("A user who was replaced, but has not signed out, keeps unsent changes")
    func keepsUnsent() async throws {
        session.clearAtSignOut(outbox: outbox)
        try await signIn("ann")
        let ann = await session.identity
        try await notes.saveOffline(Note(id: "1"))
        try await signIn("ben")
        #expect(try await outbox.pending().map(\.write.owner) == [ann])
        try await signIn("ann")
        try await session.signOut()
        #expect(try await outbox.pending().isEmpty)
    }

    @Test("Signing out while nobody is signed in keeps the changes of all users")
    func keepsOthersUnsent() async throws {
        session.clearAtSignOut(outbox: outbox)
        try await outbox.enqueue(OutboxWrite(key: "x", kind: "http", owner: "ben"))
        for _ in 1...2 { try await session.signOut() }
        #expect(try await outbox.pending().map(\.write.owner) == ["ben"])
    }

    @Test("A program does not mark the clean-up of another program as done")
    func clearsForEachProgram() async throws {
        let store = InMemoryCredentialStore<BearerCredentials>()
        func launch(_ program: String, _ caches: CacheStore) -> AuthSession<BearerCredentials> {
            let session = AuthSession(server: NoRenewal(), store: store)
            session.clearAtSignOut(caches: caches, process: program)
            return session
        }
        let keel = KeelConfiguration.test()
        let cachesOfApp = try keel.makeCaches()
        let names = cachesOfApp.cache("names", key: String.self, value: String.self)
        let app = launch("app", cachesOfApp)
        try await app.signIn(as: "ann") { BearerCredentials(accessToken: "ann") }
        await names.set("Ann", for: "1")
        try await launch("widget", keel.makeCaches()).signOut()
        #expect(names.peek("1") == "Ann")
        try await launch("app", cachesOfApp).restore()
        #expect(names.peek("1") == nil)
    }

    @Test("A service of analytics that cannot forget the user leaves the clean-up to be done")
    func reportsKeptUser() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "keel-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var keel = KeelConfiguration.test()
        keel.analytics = .folder(folder)
        let first = try keel.makeAnalytics()
        session.clearAtSignOut(analytics: try keel.makeAnalytics())
        try await signIn("ann")
        let error = await #expect(throws: AuthenticationError.self) { try await session.signOut() }
        #expect((error?.cause as? AnalyticsError)?.code == .inUse)
        #expect(first.isDelivering)
    }

    @Test("A user whom analytics could not forget on disk leaves the clean-up to be done")
    func reportsUserOnDisk() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "keel-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var keel = KeelConfiguration.test()
        keel.analytics = .folder(folder)
        let analytics = try keel.makeAnalytics()
        session.clearAtSignOut(analytics: analytics)
        try await signIn("ann")
        analytics.setUserID("ann")
        // A folder in the place of the new settings, which are written before they replace the old ones.
        let obstacle = folder.appending(path: "analytics.settings.part")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
        let error = await #expect(throws: AuthenticationError.self) { try await session.signOut() }
        #expect(error?.cause is AnalyticsError)
        // The next launch still reads the former user.
        #expect(try keel.makeAnalytics().userID == "ann")
        try FileManager.default.removeItem(at: obstacle)
        try await session.signOut()
        #expect(try keel.makeAnalytics().userID == nil)
    }

    @Test("Signing out clears the outbox, the caches, the memory and the user of analytics")
    func clears() async throws {
        let keel = KeelConfiguration.test()
        let caches = try keel.makeCaches()
        let analytics = try keel.makeAnalytics()
        session.clearAtSignOut(outbox: outbox, caches: caches, memory: memory, analytics: analytics)
        try await signIn("ann")
        let names = caches.cache("names", key: String.self, value: String.self)
        await names.set("Ann", for: "1")
        try await notes.saveOffline(Note(id: "1"))
        for owner in ["ben", nil] {
            try await outbox.enqueue(OutboxWrite(key: "x", kind: "http", owner: owner))
        }
        _ = try await notes.entity("1", .cacheOnly)
        #expect(memory.count > 0)
        let anonymousID = analytics.anonymousID
        try await session.signOut()
        #expect(try await outbox.pending().map(\.write.owner) == ["ben"])
        #expect(names.peek("1") == nil)
        #expect(memory.count == 0)
        #expect(analytics.anonymousID != anonymousID)
    }
}
