import Foundation
import HTTPTypes
import Keel
import KeelTestKit
import Testing

/// The places of a user's data on this device.
///
/// A user has documents and files under `users/ID`.
private struct UserData: Sendable {
    let user: String
    let network: NetworkClient
    let session: AuthSession<BearerCredentials>
    let database: SQLiteStorageAdapter
    let outbox: Outbox
    let caches: CacheStore
    let responses: HTTPCache
    let memory: ResourceMemory
    let cookies: CookieJar
    let files: FileStore
    let secrets: SecretStore
    let analytics: AnalyticsService
    let eventFolder: URL
    let logFolder: URL

    private var storage: StorageClient { StorageClient(database) }

    /// Copies everything that the device has of the user.
    func export(to target: FileStore) async throws {
        // The profile, and the documents of all collections below it, one as JSON in each line.
        var lines = Data()
        let profile = try await storage.findDocument("users/\(user)")
        if let profile { lines += try DocumentJSON.typed(profile) + [UInt8(ascii: "\n")] }
        let below = DocumentQuery.everything(under: "users/\(user)")
        for try await document in storage.documents(matching: below) {
            lines += try DocumentJSON.typed(document) + [UInt8(ascii: "\n")]
        }
        try await target.write(lines, to: "documents.jsonl")

        // The changes that the service does not have yet, and those that it has refused.
        let owner = await session.identity
        let unsent = try await outbox.pending(of: owner) + outbox.rejected(of: owner)
        for entry in unsent {
            try await target.write(Data(entry.write.body), to: "changes/\(entry.id)")
        }

        for try await file in files.files(in: "users/\(user)") {
            let content = try await files.open(file.path).content
            let path = "files/" + file.path.string
            try await target.write(content, to: try FileStorePath(path))
        }

        // The events on this device, delivered or not.
        var reader = try AnalyticsInspection(of: eventFolder).reader()
        var events = ""
        while case let records = try reader.read(upTo: 500), !records.isEmpty {
            for record in records where record.userID == user {
                events += "\(record.time) \(record.kind) \(record.properties)\n"
            }
        }
        try await target.write(Data(events.utf8), to: "events.txt")
    }

    /// Removes everything that the service and the device have of the user; may be repeated.
    func erase() async throws {
        // With the user's token, which the sign-out at the end removes.
        try await network.delete("/users/\(user)")
        try analytics.denyConsent(for: .analytics)
        analytics.reset()

        let below = DocumentQuery.everything(under: "users/\(user)").limit(to: 100)
        while case let found = try await storage.queryDocuments(below), !found.isEmpty {
            try await storage.commit { batch in
                for document in found { batch.delete(document.path) }
            }
        }
        try await storage.deleteDocument("users/\(user)")
        try await files.deleteAll(in: "users/\(user)")

        try await outbox.discardAll(of: await session.identity)
        try await outbox.discardAll(of: nil)
        try await caches.removeAll()
        try await responses.removeAll()
        await memory.removeAll()
        cookies.remove()
        for key in try await secrets.list() where key.hasPrefix("users/\(user)/") {
            try await secrets.delete(forKey: key)
        }

        // A log that is open begins a new file.
        for file in try FileManager.default.contentsOfDirectory(atPath: logFolder.path) {
            try FileManager.default.removeItem(at: logFolder.appending(path: file))
        }
        // The removed documents are still in unused parts of the file.
        try await database.compact()
        try await session.signOut()
    }
}

@Suite("Guide: the data of one user", .timeLimit(.minutes(1)))
struct GuideUserDataExamples {
    private struct NoRenewal: IdentityServer {
        func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
            credentials
        }
    }

    private func data(in folder: URL, _ transport: ScriptedHTTPTransport) throws -> UserData {
        let logFolder = folder.appending(path: "logs")
        let eventFolder = folder.appending(path: "analytics")
        try FileManager.default.createDirectory(at: logFolder, withIntermediateDirectories: true)
        let database = try SQLiteStorageAdapter(
            at: .file(folder.appending(path: "notes.sqlite"))
        )
        var settings = AnalyticsConfiguration()
        settings.add(ScriptedAnalyticsDestination("vendor"))
        let keel = KeelConfiguration.test()
        return UserData(
            user: "ann",
            network: NetworkClient(
                baseURL: try #require(URL(string: "https://api.example.com")),
                transport: transport
            ),
            session: AuthSession<BearerCredentials>(server: NoRenewal()),
            database: database,
            outbox: Outbox(StorageClient(database)),
            caches: try keel.makeCaches(),
            responses: HTTPCache(tier: InMemoryCacheTier()),
            memory: ResourceMemory(),
            cookies: CookieJar(),
            files: try keel.makeFiles(),
            secrets: try keel.makeSecrets(),
            analytics: try AnalyticsService(at: eventFolder, configuration: settings),
            eventFolder: eventFolder,
            logFolder: logFolder
        )
    }

    @Test("All data of a user is exported, then erased, and that of others stays")
    func exported() async throws {
        let folder = URL.temporaryDirectory.appending(path: "keel-guide-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let transport = ScriptedHTTPTransport(then: .status(.noContent))
        let ann = try data(in: folder, transport)
        try await ann.session.signIn(as: "ann") { BearerCredentials(accessToken: "ann") }
        let owner = await ann.session.identity
        let storage = StorageClient(ann.database)
        for path in ["users/ann", "users/ann/notes/1", "users/ben/notes/1"] {
            try await storage.setDocument(DocumentPath(path), ["text": "Hello"])
        }
        for name in ["ann", "ben"] {
            try await ann.files.write(Data("photo".utf8), to: "users/\(name)/1.jpg")
            try await ann.secrets.save("s3cret", forKey: "users/\(name)/pin")
        }
        let write = OutboxWrite(key: "notes/1", kind: "http", body: [1], owner: owner)
        try await ann.outbox.enqueue(write)
        try ann.analytics.grantConsent(for: .analytics)
        ann.analytics.setUserID("ann")
        ann.analytics.trackEvent("order_placed")
        let log = ann.logFolder.appending(path: "app.log")
        try Data("ann".utf8).write(to: log)

        let target = FileStore(InMemoryFileStoreAdapter())
        try await ann.export(to: target)
        let lines = String(decoding: try await target.read("documents.jsonl"), as: UTF8.self)
        #expect(lines.split(separator: "\n").count == 2)
        #expect(try await target.exists("files/users/ann/1.jpg"))
        #expect(try await target.read("changes/\(write.id)") == Data([1]))
        let events = String(decoding: try await target.read("events.txt"), as: UTF8.self)
        #expect(events.contains("order_placed"))

        try await ann.erase()
        #expect(transport.calls.map(\.head.path) == ["/users/ann"])
        let left = try await storage.queryDocuments(DocumentQuery.everything())
        #expect(left.map(\.path) == ["users/ben/notes/1"])
        #expect(try await ann.files.exists("users/ben/1.jpg"))
        #expect(try await ann.files.exists("users/ann/1.jpg") == false)
        #expect(try await ann.secrets.list() == ["users/ben/pin"])
        #expect(try await ann.outbox.pending().isEmpty)
        #expect(ann.analytics.userID == nil)
        #expect(!FileManager.default.fileExists(atPath: log.path))
    }

    @Test("An erasure that failed is repeated with the token of the user, who is still signed in")
    func repeated() async throws {
        let folder = URL.temporaryDirectory.appending(path: "keel-guide-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let ann = try data(in: folder, ScriptedHTTPTransport(then: .status(.noContent)))
        try await ann.session.signIn(as: "ann") { BearerCredentials(accessToken: "ann") }
        let owner = await ann.session.identity
        try FileManager.default.removeItem(at: ann.logFolder)
        await #expect(throws: (any Error).self) { try await ann.erase() }
        #expect(await ann.session.identity == owner)

        try FileManager.default.createDirectory(
            at: ann.logFolder,
            withIntermediateDirectories: true
        )
        try await ann.erase()
        #expect(await ann.session.identity != owner)
    }
}
