#if os(Linux) || os(macOS)
/// A difference between Google's emulator and what a test expects, and what shows whose difference it is.
package struct EmulatorDifference: Sendable {
    /// Who differs from what the test expects.
    package enum Origin: Sendable, Hashable {
        /// The emulator alone: the source shows that Google's service does what the test expects.
        case emulator
        /// Google's service too: the source shows that it does as the emulator does, and the test expects more.
        case service
        /// Nobody knows in public: no documentation, test or transcript of Google's service was found.
        case unknown
    }

    /// What the emulator does.
    package let reason: String
    package let origin: Origin
    /// The address of the page, the test or the transcript, or why there is none.
    package let source: String

    private init(_ reason: String, _ origin: Origin, _ source: String) {
        (self.reason, self.origin, self.source) = (reason, origin, source)
    }

    /// A difference of the emulator alone.
    package static func emulators(_ reason: String, _ source: String) -> Self {
        Self(reason, .emulator, source)
    }

    /// A difference that Google's service has as well.
    package static func services(_ reason: String, _ source: String) -> Self {
        Self(reason, .service, source)
    }

    /// A difference of which it is unknown what Google's service does.
    package static func unknown(_ reason: String, because lack: String) -> Self {
        Self(reason, .unknown, lack)
    }
}

/// Addresses of what is public about Google's service; those of repositories name the commit that was read.
package enum GoogleSource {
    private static let repositories = "https://github.com"
    private static let documentation = "https://firebase.google.com/docs/firestore"

    package static let contention = "\(documentation)/transaction-data-contention"
    package static let quotas = "\(documentation)/quotas"
    package static let storageSize = "\(documentation)/storage-size"
    package static let readsAndWrites = "\(documentation)/understand-reads-writes-scale"

    /// A file of the interface's description, such as `firestore.proto`.
    package static func proto(_ file: String) -> String {
        "\(repositories)/googleapis/googleapis/blob/f8291d2b/google/firestore/v1/\(file)"
    }

    /// A recording of Google's service among the tests of the Android SDK.
    package static func recording(_ name: String) -> String {
        "\(repositories)/firebase/firebase-android-sdk/blob/a089298e/firebase-firestore/src/"
            + "androidTest/assets/conformance/com_google_cloud_datastore_backend_integration_firestorev1_\(name).pb"
    }

    /// A test of the SDK for the web, which Google runs against its service.
    package static func webTest(_ file: String) -> String {
        "\(repositories)/firebase/firebase-js-sdk/blob/6f865964/packages/firestore/test/"
            + "integration/api/\(file)"
    }

    /// A test of the client for Java, which Google runs against its service.
    package static func javaTest(_ file: String) -> String {
        "\(repositories)/googleapis/java-firestore/blob/dd16eb07/google-cloud-firestore/src/test/"
            + "java/com/google/cloud/firestore/it/\(file)"
    }

    /// The tests of the client for Node.js, which Google runs against its service.
    package static let nodeTest =
        "\(repositories)/googleapis/nodejs-firestore/blob/1068f5cb/dev/system-test/firestore.ts"

    /// A thread about a repository, such as `"firebase/firebase-tools/issues/6758"`.
    package static func thread(_ path: String) -> String { "\(repositories)/\(path)" }
}
#endif
