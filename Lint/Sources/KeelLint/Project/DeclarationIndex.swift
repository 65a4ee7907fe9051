/// Which types the project declares, and where.
package struct DeclarationIndex: Sendable {
    package struct Entry: Sendable, Hashable {
        package let file: Int
        package let declaration: Int
    }

    /// What a name means at a place.
    package enum Meaning: Sendable, Equatable {
        /// Nothing that the project declares, or nothing beyond the place's own surroundings.
        case unknown
        /// This declaration, and others of the same meaning after it.
        case declared(Entry)
        /// Declarations of different meaning; which, syntax cannot tell.
        case ambiguous([Entry])
    }

    /// Where a declaration belongs: those in the same target and the same layer mean the same to every
    /// contract.
    private struct Part: Equatable {
        /// The target's number; -1 outside of targets.
        let target: Int
        /// The layer's number; -1 outside of layers.
        let layer: Int
    }

    private struct Known {
        let entry: Entry
        let part: Part
        let access: AccessLevel
    }

    /// The names of types at the top of files.
    private var names = TextTable(minimumCapacity: 1024)
    /// For each of the names, its declarations.
    private var types: [[Known]] = []
    /// Types within others: the target and the qualified name.
    private var nested: Set<String> = []
    /// The last words of those.
    private var nestedNames = TextTable(minimumCapacity: 1024)
    /// What each type is declared or extended to conform to.
    private var inherited: [String: Set<String>] = [:]
    private var targets = TextTable()

    package init(_ files: [SourceFile]) {
        for (position, file) in files.enumerated() {
            let part = Part(
                target: file.target.map { targets.number(of: $0).number } ?? -1,
                layer: file.layer ?? -1
            )
            for (index, declaration) in file.facts.declarations.enumerated()
            where declaration.kind.isType {
                if declaration.parent < 0 {
                    let (number, isNew) = names.number(of: declaration.name)
                    if isNew { types.append([]) }
                    types[number].append(
                        Known(
                            entry: Entry(file: position, declaration: index),
                            part: part,
                            access: declaration.access
                        )
                    )
                } else {
                    nested.insert("\(file.target ?? "")|\(declaration.qualifiedName)")
                    _ = nestedNames.number(of: Self.last(declaration.qualifiedName))
                }
            }
            for reference in file.facts.references where reference.context == .inheritance {
                guard let declaration = file.declaration(reference.declaration) else { continue }
                inherited[declaration.qualifiedName, default: []].insert(Self.last(reference.path))
            }
        }
    }

    private static func last(_ path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "."))
            .map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    /// The declarations of a name, wherever they are.
    package func entries(named name: String) -> [Entry] {
        var name = name
        return name.withUTF8 { names.find($0) }.map { types[$0].map(\.entry) } ?? []
    }

    /// What a type conforms to as far as it is written down, also over others.
    package func conformances(of name: String) -> Set<String> {
        var all: Set<String> = []
        var pending = [name]
        while let next = pending.popLast() {
            for name in inherited[next] ?? [] where all.insert(name).inserted {
                pending.append(name)
            }
        }
        return all
    }

    /// The names of types that conform to a protocol, with the files of their declarations.
    package func conformers(of name: String) -> [String] {
        inherited.keys.filter { conformances(of: $0).contains(name) }.sorted()
    }

    // MARK: Meanings

    /// What decides about the meaning of all names of a file.
    package struct Surroundings: Sendable {
        fileprivate let position: Int
        fileprivate let target: Int
        fileprivate let imported: Set<Int>
        fileprivate let isTestable: Bool
    }

    /// The surroundings of a file's names.
    package func surroundings(_ file: SourceFile, at position: Int) -> Surroundings {
        func number(_ target: String) -> Int? {
            var target = target
            return target.withUTF8 { targets.find($0) }
        }
        return Surroundings(
            position: position,
            target: file.target.flatMap(number) ?? -1,
            imported: Set(file.facts.imports.compactMap { number($0.module) }),
            isTestable: file.facts.imports.contains { $0.attributes.contains(.testable) }
        )
    }

    /// What a reference means.
    ///
    /// Types that surround the place hide others, then the own module hides those that are imported.
    package func meaning(
        of reference: ReferenceFact,
        in file: SourceFile,
        _ surroundings: Surroundings
    ) -> Meaning {
        var path = reference.path
        return path.withUTF8 { path in
            let dot = UInt8(ascii: ".")
            var root = UnsafeBufferPointer(rebasing: path.prefix { $0 != dot })
            if let known = names.find(root) {
                if nestedNames.find(root) != nil,
                    isHidden(root, by: reference.declaration, in: file)
                {
                    return .unknown
                }
                return meaning(of: types[known], surroundings, module: nil)
            }
            // `Module.Type`: the module is said.
            guard root.count < path.count, let module = targets.find(root) else { return .unknown }
            let rest = path[(root.count + 1)...]
            root = UnsafeBufferPointer(rebasing: rest.prefix { $0 != dot })
            return names.find(root).map { meaning(of: types[$0], surroundings, module: module) }
                ?? .unknown
        }
    }

    /// Which of the declarations of a name is meant; the module is nil where none is said.
    private func meaning(
        of known: [Known],
        _ surroundings: Surroundings,
        module: Int?
    ) -> Meaning {
        let position = surroundings.position
        // What only this file can see hides the rest.
        if let own = known.first(where: { $0.entry.file == position }) {
            return .declared(own.entry)
        }
        if module == nil || module == surroundings.target {
            let same = Self.one(known) {
                $0.access > .fileprivate && $0.part.target == surroundings.target
            }
            if let same { return same }
        }
        let others = Self.one(known) { other in
            guard other.access > .fileprivate, other.part.target >= 0,
                module.map({ $0 == other.part.target })
                    ?? surroundings.imported.contains(other.part.target)
            else { return false }
            return surroundings.isTestable || other.access >= .package
        }
        return others ?? .unknown
    }

    private func isHidden(
        _ name: UnsafeBufferPointer<UInt8>,
        by declaration: Int32,
        in file: SourceFile
    ) -> Bool {
        guard declaration >= 0 else { return false }
        let name = String(decoding: name, as: UTF8.self)
        let target = file.target ?? ""
        var path = file.symbol(declaration)[...]
        while true {
            if nested.contains("\(target)|\(path).\(name)") { return true }
            guard let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
            path = path[..<dot]
        }
    }

    /// What those of some declarations mean that are meant; nil if none is.
    private static func one(_ known: [Known], where isMeant: (Known) -> Bool) -> Meaning? {
        guard let first = known.first(where: isMeant) else { return nil }
        guard known.contains(where: { $0.part != first.part && isMeant($0) }) else {
            return .declared(first.entry)
        }
        return .ambiguous(known.filter(isMeant).map(\.entry))
    }
}
