#if os(Linux) || os(macOS)
import Foundation
import KeelFiles
import KeelTestKit
import KeelTestSupport

/// A random program of changes, run once in a folder on disk with a trace.
struct FolderScript {
    /// The information of a store about a file.
    struct Stored: Hashable {
        var bytes: [UInt8]
        var contentType: String
        var attributes: [String: String]

        init(_ files: FileStore, _ metadata: FileMetadata) async throws {
            // The whole file is read, so that the checksum is verified.
            bytes = try await Array(files.read(metadata.path))
            contentType = metadata.contentType
            attributes = metadata.attributes
        }
    }

    /// The state when a call returned.
    struct Moment {
        /// The number of changes so far.
        let position: Int
        let files: [FileStorePath: Stored]
        let versions: [FileStorePath: FileVersion]
        /// The file to be moved by the call, which gets a new version before its new name, even if the move fails.
        var moved: FileStorePath?
    }

    // Some are files and folders in turn.
    private static let paths: [FileStorePath] = [
        "a", "b", "c/d", "c/e", "f", "f/g", "h/i/j", "h/i",
    ]
    private static let types = [
        nil, "image/jpeg", "application/x-\(String(repeating: "y", count: 60))",
    ]

    let replay: FolderReplay
    private(set) var moments: [Moment] = []
    /// The number of calls that changed something.
    private(set) var changes = 0

    init(
        seed: UInt64,
        calls: Int,
        durability: LocalFileStoreAdapter.Configuration.Durability
    ) async throws {
        let scratch = try TemporaryFolder()
        var random = SeededRandom(seed: seed)
        var configuration = LocalFileStoreAdapter.Configuration()
        configuration.durability = durability
        let trace = FolderTrace()
        let files = FileStore(
            try LocalFileStoreAdapter(
                folder: scratch.path,
                configuration: configuration,
                trace: trace
            )
        )
        moments.append(try await Self.moment(files, trace))
        for number in 0..<calls {
            var moved: FileStorePath?
            do throws(FileStoreError) {
                try await Self.call(number, files, &random, &moved)
                changes += 1
            } catch {
                let expected: [FileStoreError.Code] = [.conditionFailed, .fileNotFound, .pathTaken]
                guard expected.contains(error.code) else { throw error }
            }
            var moment = try await Self.moment(files, trace)
            moment.moved = moved
            moments.append(moment)
        }
        replay = try FolderReplay(trace.steps, in: scratch.path)
    }

    private static func call(
        _ number: Int,
        _ files: FileStore,
        _ random: inout SeededRandom,
        _ moved: inout FileStorePath?
    ) async throws(FileStoreError) {
        let path = paths[Int.random(in: 0..<paths.count, using: &random)]
        let other = paths[Int.random(in: 0..<paths.count, using: &random)]
        let condition = try await condition(path, files, &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0: try await files.copy(other, to: path, if: condition)
        case 1, 2:
            moved = other
            try await files.move(other, to: path, if: condition)
        case 3, 4: try await files.delete(path, if: condition)
        default:
            let pieces = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                [UInt8](
                    repeating: UInt8(truncatingIfNeeded: number),
                    count: Int.random(in: 1...3000, using: &random)
                )
            }
            let type = types[Int.random(in: 0..<types.count, using: &random)]
            let attributes = Bool.random(using: &random) ? ["number": "\(number)"] : [:]
            try await files.write(
                FileContent(length: nil, isReplayable: true) { () throws(FileStoreError) in
                    FileReader(pieces: pieces)
                },
                to: path,
                options: FileWriteOptions(
                    contentType: type,
                    attributes: attributes,
                    condition: condition
                )
            )
        }
    }

    private static func condition(
        _ path: FileStorePath,
        _ files: FileStore,
        _ random: inout SeededRandom
    ) async throws(FileStoreError) -> FileCondition {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return .absent
        case 1: return .present
        case 2:
            guard let known = try await files.metadataIfPresent(of: path) else { return .none }
            return .version(known.version)
        default: return .none
        }
    }

    private static func moment(_ files: FileStore, _ trace: FolderTrace) async throws -> Moment {
        let position = trace.steps.count
        var stored: [FileStorePath: Stored] = [:]
        var versions: [FileStorePath: FileVersion] = [:]
        for summary in try await files.list().files {
            let metadata = try await files.metadata(of: summary.path)
            stored[summary.path] = try await Stored(files, metadata)
            versions[summary.path] = metadata.version
        }
        return Moment(position: position, files: stored, versions: versions)
    }

    /// Returns the allowed states after a number of changes: without or with the call in progress.
    func moments(around count: Int) -> (before: Moment, after: Moment) {
        let next = moments.firstIndex { $0.position > count } ?? moments.count
        let before = moments[max(0, next - 1)]
        return (before, next < moments.count ? moments[next] : before)
    }

    /// Returns the state that a store finds after a crash.
    static func found(_ files: FileStore) async throws -> Moment {
        try await moment(files, FolderTrace())
    }
}
#endif
