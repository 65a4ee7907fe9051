#if Crypto && AsyncHTTPClient
import Foundation
import KeelConformance
import KeelFiles
import KeelFilesS3
import Testing

/// A test that two real servers keep the promises of file stores.
///
/// Checks that a server fails because it deviates from the S3 API are listed with its fault. They run nevertheless and
/// must fail, so a fixed fault has to be removed from the list.
@Suite(
    "Buckets keep the promises of file stores",
    .enabled(if: S3Peer.isPresent, S3Peer.absence),
    .timeLimit(.minutes(10))
)
struct ConformanceTests {
    /// The features of a bucket.
    static let features: FileStoreSubject.Features = [
        .attributes, .checksums, .reopening, .distinguishesCase,
    ]

    /// The faults of moto 5.2.1, by broken promise.
    static let faultsOfMoto = [
        "names of every kind are kept": "moto finds no operation for a key with a line feed in it"
    ]

    /// The faults of moto when it verifies signatures; it refuses those of botocore as well.
    static let faultsOfSignedMoto: [String: String] = {
        let slashes = "moto hashes another query than was sent, where a value has a “/”"
        var faults = faultsOfMoto
        faults["texts that look alike are two paths"] =
            "moto hashes another path than was sent, where it is not ASCII"
        for promise in [
            "an empty store and an empty folder list nothing",
            "files are in the order of their paths' bytes",
            "a folder lists its own files, and those of folders in it",
            "a list that is not recursive has folders, each once",
            "pages of every size have everything once",
            "a cursor stays good when its file is gone",
            "a list tells size and version of each file",
            "folders whose files are gone are not listed",
            "what is no path is refused by every call",
            "files that come and go in one folder do not disturb each other",
            "a source that fails changes nothing, and its error is the cause",
            "a put that is cancelled half-way changes nothing",
            "what was deleted is gone",
            "all files of a folder are deleted, and no others",
            "the version stays as long as the file does",
            "a move leaves nothing in the old place",
            "a wrong checksum changes nothing",
        ] {
            faults[promise] = slashes
        }
        return faults
    }()

    /// The faults of rclone 1.75.2.
    static let faultsOfRclone: [String: String] = {
        let ignored =
            "rclone ignores If-Match and If-None-Match on PUT, so the adapter refuses them"
        var faults = [
            "2 KiB of attributes fit, and more are refused":
                "rclone counts fields of its own as attributes",
            "types and attributes go along": "rclone adds an attribute “mtime” to copies",
        ]
        for promise in [
            "an absent file is put when it is absent, once",
            "a present file is put when it is present",
            "the expected version is replaced, and no other",
            "a version of what is gone is not there",
            "deleting takes the expected version alone",
            "conditions are about the target",
            "of many who put an absent file one succeeds",
            "of many who replace one version one succeeds",
            "a counter that many raise loses nothing",
            "conditions hold between two openings",
        ] {
            faults[promise] = ignored
        }
        return faults
    }()

    /// The intermittent faults.
    static let chances = [
        "who reads while others write finds whole files":
            "rclone writes into the file that somebody reads: the adapter notices, and throws"
    ]

    static let checks = FileStoreCheck.applicable(to: features)

    @Test("moto", arguments: checks)
    func moto(_ check: FileStoreCheck) async throws {
        try await run(check, .moto, Self.faultsOfMoto)
    }

    @Test("moto with signature verification", arguments: checks)
    func signedMoto(_ check: FileStoreCheck) async throws {
        try await run(check, .signedMoto, Self.faultsOfSignedMoto)
    }

    @Test("rclone", arguments: checks)
    func rclone(_ check: FileStoreCheck) async throws {
        try await run(check, .rclone, Self.faultsOfRclone, Self.chances)
    }

    @Test("Each known fault names an existing check")
    func faults() {
        let promises = Set(Self.checks.map(\.promise))
        for list in [
            Self.faultsOfMoto, Self.faultsOfSignedMoto, Self.faultsOfRclone, Self.chances,
        ] {
            #expect(promises.isSuperset(of: list.keys))
        }
    }

    private func run(
        _ check: FileStoreCheck,
        _ kind: S3Peer.Kind,
        _ faults: [String: String],
        _ chances: [String: String] = [:]
    ) async throws {
        let peer = try S3Peer.shared(kind)
        // Below a folder, the longest path would be too long.
        let isInRoot = check.promise == "the longest path is kept"
        let subject = FileStoreSubject(features: Self.features) { name in
            try peer.adapter(isInRoot ? .root : "\(name)")
        }
        guard let fault = faults[check.promise] ?? chances[check.promise] else {
            return try await check.run(on: subject)
        }
        await withKnownIssue(
            Comment(rawValue: fault),
            isIntermittent: chances[check.promise] != nil
        ) {
            try await check.run(on: subject)
        }
    }
}
#endif
