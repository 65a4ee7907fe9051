internal import KeelHTTP
internal import KeelStorage

/// The session as it is kept: `sessions/current`.
///
/// It stands in the app's store, so that all processes on one file have the same user. An app for
/// devices with a keychain keeps tokens there: its store is another `CredentialStore`.
struct StoredSession: CredentialStore {
    private let sessions: DocumentCollection<BearerCredentials>

    init(storage: StorageClient) {
        sessions = storage.collection("sessions", as: BearerCredentials.self)
    }

    func load() async throws -> BearerCredentials? { try await sessions.find("current") }

    func save(_ credentials: BearerCredentials) async throws {
        _ = try await sessions.save(credentials, id: "current")
    }

    func clear() async throws { _ = try await sessions.delete("current") }
}
