import Foundation
import HTTPTypes
import Keel
import KeelSecrets
import KeelTestKit
import Testing

/// Examples from the comments of KeelSecrets; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func observedSecretStoreAdapter() async throws {
        let adapter = SecretServiceSecretStoreAdapter().observed { call in
            timer("secrets.\(call.operation)").record(call.duration)
        }
        _ = adapter
    }

    static func secretStore(_ file: EncryptedFileSecretStoreAdapter) async throws {
        let secrets = try await SecretStore.platformDefault(
            service: "com.example.notes",
            fallback: file
        )
        try await secrets.save("s3cret", forKey: "api-token")
        let token = try await secrets.loadString(forKey: "api-token")
        _ = secrets
        _ = token
    }

    static func secretStoreKeySource(_ secrets: SecretStore, _ data: Data) async throws {
        let source = SecretStoreKeySource(secrets)
        let keyset = try await Keyset(encrypted: data, under: source)
        _ = source
        _ = keyset
    }
}
