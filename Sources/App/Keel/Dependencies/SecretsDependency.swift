internal import Foundation
public import KeelDependencies
public import KeelSecrets

/// The dependency key of the app's secrets.
///
/// The live value is the platform's store, under the process's name, opened on first use; to use
/// another place or service, set a store in the composition root:
///
/// ```swift
/// let secrets = try await SecretStore.platformDefault(service: "com.example.notes", fallback: file)
/// try await withDependencies { $0.secrets = secrets } operation: { try await run() }
/// ```
public enum SecretsDependency: DependencyKey, Sendable {
    public static var liveValue: SecretStore {
        do throws(SecretError) {
            return try KeelConfiguration.production(ProcessInfo.processInfo.processName)
                .makeSecrets()
        } catch {
            // Reading a dependency cannot throw; instead, each call reports the error.
            return SecretStore(unavailable: error)
        }
    }

    public static var testValue: SecretStore {
        let error = SecretError(
            .unavailable,
            "the test sets no secrets: use withDependencies { $0.secrets = … } or the trait"
        )
        return unset(standIn: SecretStore(unavailable: error))
    }

    public static var previewValue: SecretStore {
        SecretStore(InMemorySecretStoreAdapter(), of: "preview")
    }
}

extension DependencyValues {
    /// The app's secrets.
    public var secrets: SecretStore {
        get { self[SecretsDependency.self] }
        set { self[SecretsDependency.self] = newValue }
    }
}
