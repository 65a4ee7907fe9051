import Foundation
import Synchronization

/// Resolves the uses of files: their imports, and, outside of attributes, other files' types.
struct UseResolver: Sendable {
    let files: [SourceFile]
    let index: DeclarationIndex
    let configuration: LintConfiguration

    private struct Found: Sendable {
        var uses: [Project.Use] = []
        var ambiguous: [(name: String, files: [Int])] = []
    }

    /// With fewer, a thread costs more than it saves.
    private static let filesPerThread = 32

    /// The uses in the order of files, and the ambiguous names with the files that declare them.
    func resolved(threads: Int) -> ([Project.Use], [String: [Int]]) {
        let found = Mutex<[Found]>(Array(repeating: Found(), count: files.count))
        let next = Atomic(0)
        ProjectLoader.onThreads(max(1, min(threads, files.count / Self.filesPerThread))) {
            while true {
                let start = next.add(8, ordering: .relaxed).oldValue
                guard start < files.count else { return }
                for position in start..<min(start + 8, files.count) {
                    let part = self.uses(of: files[position], at: position)
                    found.withLock { $0[position] = part }
                }
            }
        }
        var uses: [Project.Use] = []
        var ambiguous: [String: [Int]] = [:]
        for part in found.withLock({ $0 }) {
            uses += part.uses
            for (name, files) in part.ambiguous { ambiguous[name] = files }
        }
        return (uses, ambiguous)
    }

    private func uses(of file: SourceFile, at position: Int) -> Found {
        var found = Found()
        guard !file.isTest else { return found }
        for fact in file.facts.imports {
            found.uses.append(
                Project.Use(
                    file: position,
                    what: .module(fact.module),
                    place: fact.place,
                    symbol: "import \(fact.module)",
                    isConditional: fact.isConditional
                )
            )
        }
        guard !configuration.layers.isEmpty || !configuration.contracts.isEmpty else {
            return found
        }
        let surroundings = index.surroundings(file, at: position)
        for reference in file.facts.references where reference.context != .attribute {
            switch index.meaning(of: reference, in: file, surroundings) {
            case .unknown: break
            case .declared(let entry):
                guard entry.file != position, !files[entry.file].isTest else { continue }
                found.uses.append(
                    Project.Use(
                        file: position,
                        what: .type(reference.path, file: entry.file),
                        place: reference.place,
                        symbol: file.symbol(reference.declaration),
                        isConditional: false
                    )
                )
            case .ambiguous(let entries):
                found.ambiguous.append((String(reference.root), entries.map(\.file)))
            }
        }
        return found
    }
}
