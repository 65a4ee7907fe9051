internal import KeelFiles

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The credentials in the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, and for temporary credentials
/// `AWS_SESSION_TOKEN`; an empty variable counts as not set.
public struct EnvironmentAWSCredentials: AWSCredentialsProvider {
    private let environment: [String: String]

    /// Creates a provider for the given environment.
    public init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.environment = environment.filter { $0.key.hasPrefix("AWS_") && !$0.value.isEmpty }
    }

    /// Returns the credentials in the environment, or throws `credentialsMissing` naming the missing variable.
    public func credentials() async throws -> AWSCredentials {
        AWSCredentials(
            accessKeyID: try value("AWS_ACCESS_KEY_ID"),
            secretAccessKey: try value("AWS_SECRET_ACCESS_KEY"),
            sessionToken: environment["AWS_SESSION_TOKEN"]
        )
    }

    private func value(_ name: String) throws(FileStoreError) -> String {
        guard let value = environment[name] else {
            throw FileStoreError(
                .credentialsMissing,
                "The environment variable \(name) is not set."
            )
        }
        return value
    }
}

extension EnvironmentAWSCredentials: CustomStringConvertible, CustomReflectable {
    public var description: String { "EnvironmentAWSCredentials()" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
