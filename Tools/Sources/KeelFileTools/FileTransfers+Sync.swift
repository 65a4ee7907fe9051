internal import Foundation
internal import KeelFiles
internal import KeelFilesS3
internal import KeelToolSupport

extension FileTransfers {
    /// The steps that make the files of one folder those of another.
    package struct SyncPlan: Sendable {
        package fileprivate(set) var copies: [Copied] = []
        /// The files of the target without a counterpart.
        package fileprivate(set) var deletions: [FilePlace] = []
        package fileprivate(set) var unchangedCount = 0
        /// The entries and files that are not copied, as in `Report.skipped`.
        package fileprivate(set) var skipped: [String] = []
        /// Whether the source has no files and no skipped entries, whatever the patterns: its path may be wrong, or its
        /// disk not mounted.
        package fileprivate(set) var hasEmptySource = false

        package mutating func keepOthers() { deletions = [] }
    }

    /// Compares the files of two folders that `patterns` choose.
    ///
    /// A file is copied if the target lacks it, if the sizes differ, or if the source is newer; between buckets, also
    /// if both have the same date and different versions. A bucket's dates are those of uploads: for an upload, the
    /// dates of this machine are corrected if its clock is behind that of the bucket.
    ///
    /// With `comparesChecksums`, files of the same size are compared by their CRC-32C instead of their dates; a file of
    /// a bucket without that checksum is copied. `progress` receives the number of files listed, and with checksums
    /// then that of files compared, and their total.
    ///
    /// - Throws: `FileStoreError`, or `ToolError` if the places do not fit together or a local folder cannot be read.
    package func plan(
        from: FilePlace,
        to: FilePlace,
        patterns: NamePatterns = NamePatterns(),
        comparesChecksums: Bool = false,
        progress: (_ count: Int, _ total: Int?) -> Void = { _, _ in }
    ) async throws -> SyncPlan {
        guard from.isBucket || to.isBucket else {
            throw ToolError(
                "neither location is a bucket",
                advice: "Give a bucket as s3://BUCKET/FOLDER; use rsync for local folders."
            )
        }
        try refuseOverlap(of: from, and: to)
        let source = try await SyncFolder(from, self, patterns, isTarget: false) {
            progress($0, nil)
        }
        let target = try await SyncFolder(to, self, patterns, isTarget: true) {
            progress(source.files.count + $0, nil)
        }
        let lead = to.isBucket && !from.isBucket ? clock.lead : 0
        var plan = SyncPlan()
        plan.skipped = source.skipped.filter(patterns.chooses)
        plan.hasEmptySource = source.files.isEmpty && source.skipped.isEmpty
        let names = source.files.keys.map(\.text).filter(patterns.chooses)
        let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for (index, names) in sorted.enumerated() {
            guard let file = source[names] else { continue }
            if comparesChecksums { progress(index, sorted.count) }
            guard !target.skips(names), (try? FileStorePath(names)) != nil else {
                plan.skipped.append(names)
                continue
            }
            let copied = Copied(
                from: from.appending(names),
                to: to.appending(names),
                byteCount: file.byteCount
            )
            let isSame: Bool
            if let other = target[names], other.byteCount == file.byteCount {
                isSame =
                    try await comparesChecksums
                    ? haveSameChecksum(copied.from, copied.to)
                    : file.isUnchanged(since: other, lead: lead)
            } else {
                isSame = false
            }
            if isSame { plan.unchangedCount += 1 } else { plan.copies.append(copied) }
        }
        // Compared as texts: to some disks, such as those of Apple's systems, names of one look are one file.
        let present = Set(source.files.keys.map(\.text))
        plan.deletions = target.files.keys.map(\.text)
            .filter { !present.contains($0) && !source.skips($0) && patterns.chooses($0) }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            .map { to.appending($0) }
        return plan
    }

    /// Makes the copies of a plan; after an interruption, a new plan has the rest of them.
    ///
    /// One task at a time calls `progress`. The result has the failures of files.
    ///
    /// - Throws: The error of a file if the task is canceled.
    package func copy(
        _ plan: SyncPlan,
        progress: @escaping @Sendable (CopyProgress) throws -> Void = { _ in }
    ) async throws -> Report {
        var rest = plan.copies.makeIterator()
        let meter = CopyMeter(
            fileCount: plan.copies.count,
            byteCount: plan.copies.reduce(0) { $0 + $1.byteCount },
            progress
        )
        return try await copyEach(meter, Options(keepsDates: true)) {
            guard let next = rest.next() else { return nil }
            return (next.from, next.to)
        }
    }

    /// Makes the deletions of a plan, and calls `deleted` after each; folders stay.
    ///
    /// - Throws: `CancellationError`, `FileStoreError`, `ToolError` for a local file, or the error of `deleted`.
    package func delete(_ plan: SyncPlan, deleted: (FilePlace) throws -> Void) async throws {
        for place in plan.deletions {
            try Task.checkCancellation()
            switch place {
            case .local(let path):
                // Another run may have deleted it, and a folder that has its name by now stays.
                guard unlink(path) == 0 || errno == ENOENT else {
                    throw ToolError(
                        "“\(path)” cannot be deleted: \(String(cString: strerror(errno)))",
                        advice: "Check the permissions of its folder, and run it again."
                    )
                }
            case .bucket(let name, let key):
                _ = try await FileStore(adapter(name)).delete(FileStorePath(key))
            }
            try deleted(place)
        }
    }

    private func haveSameChecksum(_ from: FilePlace, _ to: FilePlace) async throws -> Bool {
        guard let own = try await checksum(of: from) else { return false }
        return try await own == checksum(of: to)
    }

    /// Returns the CRC-32C of a file; nil if the bucket has none.
    private func checksum(of place: FilePlace) async throws -> FileChecksum? {
        switch place {
        case .local(let path): return try await FileContent.local(path).checksum(by: .crc32c)
        case .bucket(let name, let key):
            let file = try await FileStore(adapter(name)).metadata(of: FileStorePath(key))
            return file.checksum.flatMap { $0.algorithm == .crc32c ? $0 : nil }
        }
    }
}

/// The path of a file below a folder, compared by its bytes: `é` in one scalar and in two are equal texts, but the
/// names of two files.
private struct FileNames: Hashable {
    let text: String

    static func == (left: Self, right: Self) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

private struct SyncFile {
    let byteCount: Int
    let modified: Date
    /// The version in a bucket; nil for a file of this machine.
    var version: FileVersion?

    /// Returns whether a copy of the same size, whose clock is ahead by `lead` seconds, was made after the last change.
    ///
    /// A bucket's dates are whole seconds: a file that was changed in the second of its upload is copied once more.
    func isUnchanged(since copy: SyncFile, lead: TimeInterval) -> Bool {
        let modified = modified.addingTimeInterval(lead)
        guard modified == copy.modified, let version, let other = copy.version else {
            return modified <= copy.modified
        }
        return version == other
    }
}

private struct SyncFolder {
    private(set) var files: [FileNames: SyncFile] = [:]
    private(set) var skipped: [String] = []
    /// The names on the paths of the skipped entries.
    private var skippedPaths: Set<[String]> = []

    init(
        _ place: FilePlace,
        _ transfers: FileTransfers,
        _ patterns: NamePatterns,
        isTarget: Bool,
        progress: (Int) -> Void
    ) async throws {
        switch place {
        case .local(let path):
            // A target that does not exist is created with its first file.
            guard !isTarget || FileManager.default.fileExists(atPath: path) else { return }
            let tree = try LocalTree(path, advice: "Give a folder, or check the path.")
            try tree.requireReadable(except: patterns.excludesAll)
            skipped = tree.skipped
            skippedPaths = Set(skipped.map(Self.path(of:)))
            for file in tree.files {
                files[FileNames(text: file.names)] = SyncFile(
                    byteCount: file.byteCount,
                    modified: file.modified
                )
            }
            progress(files.count)
        case .bucket(let name, let key):
            let folder = try transfers.folder(key)
            let start = folder.path.map { $0.string.utf8.count + 1 } ?? 0
            for try await file in FileStore(try transfers.adapter(name)).files(in: folder) {
                let names = String(Substring(file.path.string.utf8.dropFirst(start)))
                files[FileNames(text: names)] = SyncFile(
                    byteCount: file.size,
                    modified: file.modified,
                    version: file.version
                )
                progress(files.count)
            }
        }
    }

    subscript(names: String) -> SyncFile? { files[FileNames(text: names)] }

    /// Returns whether a path is that of a skipped entry, or leads through one, such as a link.
    func skips(_ names: String) -> Bool {
        guard !skipped.isEmpty else { return false }
        let path = Self.path(of: names)
        return path.indices.contains { skippedPaths.contains(Array(path[...$0])) }
    }

    /// Returns the names on a path, split by bytes: as text, a “/” and a combining mark are one character.
    ///
    /// The names are compared as texts: to some disks, equal texts are one file.
    private static func path(of names: String) -> [String] {
        names.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }
}
