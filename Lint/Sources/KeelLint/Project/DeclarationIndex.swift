package struct DeclarationIndex: Sendable {
    package struct Entry: Sendable, Hashable {
        package let file: Int
        package let declaration: Int
    }

    /// The meaning of a name at a position.
    package enum Meaning: Sendable, Equatable {
        /// No visible declaration of the project, or only a nested one.
        case unknown
        /// This declaration, or others of the same target and layer.
        case declared(Entry)
        /// Declarations of several targets or layers, which the syntax cannot distinguish.
        case ambiguous([Entry])
    }

    private struct Part: Equatable {
        /// -1 outside of targets.
        let target: Int
        /// -1 outside of layers.
        let layer: Int
    }

    private struct Known {
        let entry: Entry
        let part: Part
        let access: AccessLevel
    }

    private var names = TextTable(minimumCapacity: 1024)
    private var types: [[Known]] = []
    /// Nested types: the target and the qualified name.
    private var nested: Set<String> = []
    /// The last components of their names.
    private var nestedNames = TextTable(minimumCapacity: 1024)
    /// The conformances and superclasses of each type, and what aliases stand for.
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
            for reference in file.facts.references
            where reference.context == .inheritance || reference.context == .alias {
                guard let declaration = file.declaration(reference.declaration) else { continue }
                inherited[declaration.qualifiedName, default: []].insert(Self.last(reference.path))
            }
        }
    }

    private static func last(_ path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "."))
            .map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    package func entries(named name: String) -> [Entry] {
        var name = name
        return name.withUTF8 { names.find($0) }.map { types[$0].map(\.entry) } ?? []
    }

    /// Returns the conformances and superclasses of a type, with inherited ones and what aliases stand for.
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

    package func conformers(of name: String) -> [String] {
        inherited.keys.filter { conformances(of: $0).contains(name) }.sorted()
    }

    // MARK: Meanings

    package struct Surroundings: Sendable {
        fileprivate let position: Int
        fileprivate let target: Int
        fileprivate let imported: Set<Int>
        fileprivate let isTestable: Bool
    }

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

    /// Returns the meaning of a reference.
    ///
    /// Types in enclosing types shadow those of the file, these shadow its module's, and these the imported ones.
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
                    isHidden(String(decoding: root, as: UTF8.self), by: reference, in: file)
                {
                    return .unknown
                }
                return meaning(of: types[known], surroundings, module: nil)
            }
            // `Module.Type` is qualified.
            guard root.count < path.count, let module = targets.find(root) else { return .unknown }
            let rest = path[(root.count + 1)...]
            root = UnsafeBufferPointer(rebasing: rest.prefix { $0 != dot })
            return names.find(root).map { meaning(of: types[$0], surroundings, module: module) }
                ?? .unknown
        }
    }

    /// The module is nil for an unqualified name.
    private func meaning(
        of known: [Known],
        _ surroundings: Surroundings,
        module: Int?
    ) -> Meaning {
        let position = surroundings.position
        // Declarations in the same file shadow the others.
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

    /// Whether a type around a reference contains a type of the name.
    func isHidden(_ name: String, by reference: ReferenceFact, in file: SourceFile) -> Bool {
        guard reference.declaration >= 0 else { return false }
        let target = file.target ?? ""
        var path = file.symbol(reference.declaration)[...]
        while true {
            if nested.contains("\(target)|\(path).\(name)") { return true }
            guard let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
            path = path[..<dot]
        }
    }

    private static func one(_ known: [Known], where isMeant: (Known) -> Bool) -> Meaning? {
        guard let first = known.first(where: isMeant) else { return nil }
        guard known.contains(where: { $0.part != first.part && isMeant($0) }) else {
            return .declared(first.entry)
        }
        return .ambiguous(known.filter(isMeant).map(\.entry))
    }
}
