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
        "unusual names are kept": "moto finds no operation for a key with a line feed in it"
    ]

    /// The faults of moto when it verifies signatures; it refuses those of botocore as well.
    static let faultsOfSignedMoto: [String: String] = {
        let slashes = "moto hashes another query than was sent, where a value has a “/”"
        var faults = faultsOfMoto
        faults["composed and decomposed characters form different paths"] =
            "moto hashes another path than was sent, where it is not ASCII"
        for promise in [
            "an empty store and an empty folder list nothing",
            "files are listed in the byte order of their paths",
            "a folder lists its own files and those of its subfolders",
            "a nonrecursive list contains each folder once",
            "pages of any size contain every entry once",
            "a cursor stays valid after its file is deleted",
            "a list contains the size and version of each file",
            "folders whose files were deleted are not listed",
            "every call rejects an invalid path",
            "concurrent puts and deletions in one folder do not interfere",
            "a failing source changes nothing, and its error is the cause",
            "a put canceled halfway changes nothing",
            "a deleted file is gone",
            "deleting a folder deletes all of its files and no others",
            "the version stays the same until the file changes",
            "a move leaves nothing at the old path",
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
            "2 KiB of attributes are accepted, more are rejected":
                "rclone counts fields of its own as attributes",
            "copies and moves keep the type and attributes":
                "rclone adds an attribute “mtime” to copies",
        ]
        for promise in [
            "a put that requires absence succeeds only once",
            "a put that requires presence succeeds only for an existing file",
            "a put replaces only the expected version",
            "a put that expects a deleted version fails",
            "a deletion succeeds only for the expected version",
            "conditions apply to the target",
            "exactly one of many concurrent puts of an absent file succeeds",
            "exactly one of many concurrent replacements of a version succeeds",
            "concurrent increments of a counter lose nothing",
            "conditions work across openings",
        ] {
            faults[promise] = ignored
        }
        return faults
    }()

    /// The intermittent faults.
    static let chances = [
        "a reader concurrent with writers sees complete files":
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
