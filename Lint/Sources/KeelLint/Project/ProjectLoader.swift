import Foundation
import Synchronization

/// Reads a project's files in parallel, or takes their facts from the cache.
package struct ProjectLoader: Sendable {
    package var root: String
    package var cache: FactCache
    package var threads: Int
    /// The maximum size of a file to parse.
    package var byteLimit: Int
    /// The folders of packages that belong to the project; nil for the default of ``SourceDiscovery``.
    package var packages: [Glob]?
    package var isLeftOut: @Sendable (String) -> Bool

    package init(
        root: String,
        cache: FactCache = .none,
        threads: Int = ProcessInfo.processInfo.activeProcessorCount,
        byteLimit: Int = 8 << 20,
        packages: [Glob]? = nil,
        isLeftOut: @escaping @Sendable (String) -> Bool = { _ in false }
    ) {
        self.root = root
        self.cache = cache
        self.threads = threads
        self.byteLimit = byteLimit
        self.packages = packages
        self.isLeftOut = isLeftOut
    }

    package struct Loaded: Sendable {
        package var files: [SourceFile] = []
        package var localPackages: [String] = []
        package var nestedPackages: [String] = []
        package var unreadableFolders: [String] = []
        /// The number of files that were in the cache.
        package var fromCache = 0
        package var byteCount = 0
    }

    package func load() -> Loaded {
        let found = SourceDiscovery.search(root, packages: packages)
        let paths = found.files.filter { !isLeftOut($0) }
        let (read, targets) = readAll(paths, in: found)
        cache.keep(
            Dictionary(
                read.compactMap { file in file.hash.map { ($0, file.encoded) } },
                uniquingKeysWith: { first, _ in first }
            )
        )
        var loaded = Loaded()
        loaded.localPackages = found.localPackages
        loaded.nestedPackages = found.nestedPackages
        loaded.unreadableFolders = found.unreadable
        loaded.fromCache = read.count { $0.wasKnown }
        loaded.byteCount = read.reduce(0) { $0 + $1.byteCount }
        let folders = targets.map { ($0.folder + "/", $0) }
        loaded.files = zip(paths, read).map { path, read in
            let target = folders.first { path.hasPrefix($0.0) }?.1
            return SourceFile(
                path: path,
                target: target?.name,
                targetFolder: target?.folder,
                isTest: target?.isTest == true || read.liesInTests,
                facts: read.facts
            )
        }
        return loaded
    }

    package static func liesInTests(_ path: String) -> Bool {
        path.split(separator: "/").dropLast().contains { folder in
            folder == "Tests" || folder == "Test" || folder.hasSuffix("Tests")
        }
    }

    private struct ReadFile: Sendable {
        var hash: ContentHash?
        var facts: SourceFacts
        /// Empty if the cache has them.
        var encoded: [UInt8] = []
        var wasKnown = false
        var byteCount = 0
        var liesInTests = false
    }

    private func readAll(
        _ paths: [String],
        in found: SourceDiscovery.Result
    ) -> ([ReadFile], [PackageTarget]) {
        let next = Atomic(-1)
        let targets = Mutex<[PackageTarget]>([])
        let results = Mutex<[ReadFile?]>(Array(repeating: nil, count: paths.count))
        let work: @Sendable () -> Void = {
            while true {
                let index = next.add(1, ordering: .relaxed).oldValue
                guard index < paths.count else { return }
                if index < 0 {
                    let packages = (found.isPackage ? [""] : []) + found.localPackages
                    guard !packages.isEmpty else { continue }
                    let declared = ManifestReader.targets(
                        root: root,
                        packages: packages,
                        files: found.files
                    )
                    targets.withLock { $0 = declared }
                } else {
                    var file = self.read(paths[index])
                    file.liesInTests = Self.liesInTests(paths[index])
                    results.withLock { $0[index] = file }
                }
            }
        }
        Self.onThreads(max(1, min(threads, paths.count)), work)
        let read = results.withLock {
            $0.map { $0 ?? ReadFile(facts: SourceText.noted(.unreadable)) }
        }
        return (read, targets.withLock { $0 })
    }

    /// Runs the same work on several threads with stacks for deeply nested code, and returns when all are done.
    package static func onThreads(_ count: Int, _ work: @escaping @Sendable () -> Void) {
        let group = DispatchGroup()
        for _ in 0..<count {
            group.enter()
            let thread = Thread {
                work()
                group.leave()
            }
            thread.stackSize = 256 << 20
            thread.start()
        }
        group.wait()
    }

    private func read(_ path: String) -> ReadFile {
        guard let data = Self.contents(of: "\(root)/\(path)") else {
            return ReadFile(facts: SourceText.noted(.unreadable))
        }
        // Such a file is not in the cache, as the limit can change.
        guard data.count <= byteLimit else {
            return ReadFile(facts: SourceText.noted(.tooLarge), byteCount: data.count)
        }
        let hash = data.withUnsafeBytes { ContentHash($0) }
        if let known = cache.facts(for: hash) {
            return ReadFile(hash: hash, facts: known, wasKnown: true, byteCount: data.count)
        }
        let facts = SourceText.read(data) { FactExtractor.facts(of: $0) }
        return ReadFile(
            hash: hash,
            facts: facts,
            encoded: cache.isKept ? FactCoding.bytes(of: facts) : [],
            byteCount: data.count
        )
    }

    /// With fewer system calls than Foundation.
    private static func contents(of path: String) -> Data? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        var data = Data(count: Int(status.st_size))
        let wanted = data.count
        let count = data.withUnsafeMutableBytes { buffer -> Int in
            var filled = 0
            while filled < wanted {
                let got = Foundation.read(
                    descriptor,
                    buffer.baseAddress.map { $0 + filled },
                    wanted - filled
                )
                if got <= 0 { break }
                filled += got
            }
            return filled
        }
        return count == wanted ? data : data.prefix(count)
    }
}
