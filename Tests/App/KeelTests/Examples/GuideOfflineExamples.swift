import Foundation
import HTTPTypes
import Keel
import KeelTestKit
import Testing

// MARK: The data

private struct Note: Equatable, Sendable {
    var id: String
    var text: String
    /// The version of the service that the text is based on; 0 for a new note.
    var version = 0
}

private struct NoteDTO: Codable, Identifiable, Sendable, DomainMappable {
    var id: String
    var text: String
    var version: Int

    init(domain note: Note) {
        id = note.id
        text = note.text
        version = note.version
    }

    func toDomain() throws(MappingError) -> Note {
        Note(id: id, text: text, version: version)
    }
}

private struct GetNote: Endpoint {
    typealias Response = NoteDTO
    let id: String
    var path: EndpointPath { "/notes/\(id)" }
}

private struct GetNotes: Endpoint {
    typealias Response = [NoteDTO]
    var path: EndpointPath { "/notes" }
}

private struct PutNote: Endpoint {
    typealias Response = NoteDTO
    let note: NoteDTO
    var method: HTTPRequest.Method { .put }
    var path: EndpointPath { "/notes/\(note.id)" }
    // The service answers 412 if it has another version.
    var headers: HTTPFields {
        note.version == 0 ? [.ifNoneMatch: "*"] : [.ifMatch: "\"\(note.version)\""]
    }
    var body: RequestBody? { .json(note) }
}

private struct DeleteNote: Endpoint {
    typealias Response = EmptyResponse
    let id: String
    var method: HTTPRequest.Method { .delete }
    var path: EndpointPath { "/notes/\(id)" }
}

// MARK: The composition

private struct NotesData: Sendable {
    let notes: EntityRepository<Note>
    let outbox: Outbox
    let sender: HTTPOutboxSender
    private let client: NetworkClient
    private let collection: DocumentCollection<NoteDTO>
    private let session: AuthSession<BearerCredentials>
    private let loader: ResourceLoader

    init(
        storage: StorageClient,
        settings: Outbox.Configuration,
        session: AuthSession<BearerCredentials>,
        configuration: NetworkClient.Configuration,
        transport: some HTTPTransport
    ) {
        var configuration = configuration
        configuration.authorize(with: session)
        let client = NetworkClient(configuration, transport: transport)
        let collection = storage.collection("notes", as: NoteDTO.self)
        let memory = ResourceMemory(.bytes(8 << 20))
        let outbox = Outbox(storage, configuration: settings)
        let loader = ResourceLoader(
            ledger: CollectionFetchLedger(storage),
            memory: memory,
            identity: { await session.identity }
        )
        let notes = EntityRepository<Note>(
            "notes",
            remote: RemoteEntities<NoteDTO>(RemoteDataSource(client))
                .find { GetNote(id: $0) }
                .all { GetNotes() },
            local: CollectionDataSource(collection),
            loader: loader,
            offline: OfflineWrites<NoteDTO>(outbox) { change in
                switch change {
                case .save(let note): try OutboxRequest(PutNote(note: note))
                case .delete(let id): try OutboxRequest(DeleteNote(id: id))
                }
            },
            id: { $0.id }
        )
        // First, because it waits for a change that is being saved, whose request the outbox then drops.
        session.onSignOut("notes") { _ in try await notes.removeAll() }
        session.clearAtSignOut(outbox: outbox, memory: memory)
        sender = HTTPOutboxSender(client)
        self.notes = notes
        self.client = client
        self.collection = collection
        self.session = session
        self.loader = loader
        self.outbox = outbox
    }

    /// Returns the work that runs for as long as the app does.
    func work(_ network: NetworkStatus) -> BackgroundWork {
        var work = BackgroundWork()
        work.add(
            "outbox",
            run: { try await outbox.run(sending: sender, whileOnline: network.onlineStates) },
            finish: { _ = try? await outbox.flush(sending: sender) }
        )
        work.add(session, notifying: loader, retrying: outbox)
        return work
    }
}

// MARK: What the user sees

extension NotesData {
    /// The ids of notes whose changes the service does not have yet.
    func unsentIDs(of entries: [OutboxEntry]) -> Set<String> {
        let changes = entries.filter { $0.state != .rejected }
        return Set(changes.compactMap { Self.note(of: $0)?.id })
    }

    /// Returns the note of a change; nil for a removal.
    static func note(of entry: OutboxEntry) -> Note? {
        let dto = try? JSONDecoder().decode(NoteDTO.self, from: Data(entry.write.body))
        return try? dto?.toDomain()
    }
}

// MARK: Conflicts

extension NotesData {
    /// Returns the changes of the signed-in user that the service has refused.
    func refused() async throws -> [OutboxEntry] {
        try await outbox.rejected(of: await session.identity)
    }

    /// Drops a rejected change; the next load shows the note of the service.
    func takeTheirs(_ entry: OutboxEntry) async throws {
        try await outbox.discard(entry.id)
        try await notes.invalidate()
    }

    /// Sends a rejected change again, on top of the note of the service.
    func keepMine(_ entry: OutboxEntry) async throws {
        guard var mine = Self.note(of: entry) else { return }
        mine.version = try await client.request(GetNote(id: mine.id)).version
        let note = NoteDTO(domain: mine)
        let request = try OutboxRequest(PutNote(note: note)).write(key: entry.write.key)
        // A process that is killed here leaves the former change or the new one.
        try await outbox.edit(entry.id) { write in
            write.attributes = request.attributes
            write.body = request.body
        }
        try await collection.save(note)
    }
}

@Suite("Guide: offline", .timeLimit(.minutes(1)))
struct GuideOfflineExamples {
    private struct NoRenewal: IdentityServer {
        func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
            credentials
        }
    }

    private let folder = URL.temporaryDirectory.appending(path: "keel-guide-\(UUID().uuidString)")
    private let credentials = InMemoryCredentialStore<BearerCredentials>()
    // A call for which no answer is left fails as it does without a network.
    private let transport = ScriptedHTTPTransport()

    /// Starts the app, as after the end of an earlier process.
    private func launch(
        _ rejection: Outbox.Rejection = .continuesKey
    ) async throws -> (NotesData, AuthSession<BearerCredentials>) {
        let file = folder.appending(path: "notes.sqlite")
        let storage = StorageClient(try SQLiteStorageAdapter(at: .file(file)))
        let session = AuthSession(server: NoRenewal(), store: credentials)
        var configuration = try NetworkClient.Configuration("https://api.example.com/v1")
        configuration.retry = .never
        var settings = Outbox.Configuration()
        settings.rejection = rejection
        let data = NotesData(
            storage: storage,
            settings: settings,
            session: session,
            configuration: configuration,
            transport: transport
        )
        try await session.restore()
        return (data, session)
    }

    @Test(
        "A change without a network survives the process, meets a conflict, and is sent",
        arguments: [Outbox.Rejection.continuesKey, .holdsKey]
    )
    func change(rejection: Outbox.Rejection) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (first, session) = try await launch(rejection)
        try await session.signIn(as: "ann") { BearerCredentials(accessToken: "ann") }
        transport.enqueue(.json(#"[{"id": "1", "text": "Milk", "version": 1}]"#))
        #expect(try await first.notes.all(.networkFirst).map(\.text) == ["Milk"])

        let fetched = try await first.notes.fetchedAll(.networkFirst)
        #expect(fetched.value.count == 1 && fetched.freshness.isStale)
        let changed = Note(id: "1", text: "Oat milk", version: 1)
        let receipt = try await first.notes.saveOffline(changed)
        #expect(receipt.stage == .local)

        let (second, later) = try await launch(rejection)
        #expect(try await second.notes.all(.cacheOnly).map(\.text) == ["Oat milk"])
        #expect(second.unsentIDs(of: try await second.outbox.pending()) == ["1"])

        transport.enqueue(.status(.preconditionFailed))
        #expect(try await second.outbox.flush(sending: second.sender))
        let refused = try #require(try await second.refused().first)
        #expect(transport.calls.last?.head.headerFields[.ifMatch] == "\"1\"")
        #expect(second.unsentIDs(of: [refused]).isEmpty)

        transport.enqueue(.json(#"{"id": "1", "text": "Bread", "version": 2}"#))
        try await second.keepMine(refused)
        #expect(try await second.notes.all(.cacheOnly).map(\.text) == ["Oat milk"])
        transport.enqueue(.json(#"{"id": "1", "text": "Oat milk", "version": 3}"#))
        #expect(try await second.outbox.flush(sending: second.sender))
        #expect(transport.calls.last?.head.headerFields[.ifMatch] == "\"2\"")
        #expect(try await second.refused().isEmpty)

        try await second.notes.saveOffline(Note(id: "2", text: "Call Lin"))
        try await later.signOut()
        #expect(try await second.outbox.pending().isEmpty)
        await #expect(throws: RepositoryError.self) { try await second.notes.all(.cacheOnly) }
    }

    @Test("A refused change is shown only to the user who made it")
    func separatesUsers() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (data, session) = try await launch()
        try await session.signIn(as: "ann") { BearerCredentials(accessToken: "ann") }
        try await data.notes.saveOffline(Note(id: "1", text: "Oat milk", version: 1))
        transport.enqueue(.status(.preconditionFailed))
        #expect(try await data.outbox.flush(sending: data.sender))
        try await session.signIn(as: "ben") { BearerCredentials(accessToken: "ben") }
        #expect(try await data.refused().isEmpty)
        try await session.signIn(as: "ann") { BearerCredentials(accessToken: "ann") }
        #expect(try await data.refused().count == 1)
    }

    @Test("A user who signs out and in again loads the notes again")
    func signsInAgain() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (data, session) = try await launch()
        for _ in 1...2 {
            try await session.signIn(as: "ann") { BearerCredentials(accessToken: "ann") }
            transport.enqueue(.json(#"[{"id": "1", "text": "Milk", "version": 1}]"#))
            let notes = try await data.notes.all(.cacheFirst(maxAge: .seconds(600)))
            #expect(notes.map(\.text) == ["Milk"])
            try await session.signOut()
        }
    }

    @Test("The service's note replaces a rejected change")
    func theirs() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (data, session) = try await launch()
        try await session.signIn(as: "ann") { BearerCredentials(accessToken: "ann") }
        try await data.notes.saveOffline(Note(id: "1", text: "Oat milk", version: 1))
        transport.enqueue(.status(.preconditionFailed))
        #expect(try await data.outbox.flush(sending: data.sender))
        let refused = try #require(try await data.refused().first)
        try await data.takeTheirs(refused)
        transport.enqueue(.json(#"{"id": "1", "text": "Bread", "version": 2}"#))
        #expect(try await data.notes.entity("1", .cacheFirst()).text == "Bread")
    }
}
