import Foundation
import HTTPTypes
import Keel
import KeelHTTPAuthentication
import KeelHTTPSecrets
import KeelTestKit
import Testing

/// Examples from the comments of KeelHTTPSecrets; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func secretCredentialStore(
        _ client: NetworkClient,
        _ file: EncryptedFileSecretStoreAdapter
    ) async throws {
        let secrets = try await SecretStore.platformDefault(
            service: "com.example.notes",
            fallback: file
        )
        let session = AuthSession(
            server: OAuthIdentityServer(client, path: "/token"),
            store: SecretCredentialStore<BearerCredentials>(secrets)
        )
        _ = secrets
        _ = session
    }
}
