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
        /// One declaration, or several of the same meaning.
        case declared([Entry])
        /// Declarations of different meaning; which, syntax cannot tell.
        case ambiguous([Entry])
    }

    /// Types at the top of files, by name.
    private var types: [String: [Entry]] = [:]
    /// Types within others: the target and the qualified name.
    private var nested: Set<String> = []
    /// What each type is declared or extended to conform to.
    private var inherited: [String: Set<String>] = [:]
    private var targets: Set<String> = []

    package init(_ files: [SourceFile]) {
        for (position, file) in files.enumerated() {
            if let target = file.target { targets.insert(target) }
            for (index, declaration) in file.facts.declarations.enumerated()
            where declaration.kind.isType {
                if declaration.parent < 0 {
                    types[declaration.name, default: []].append(
                        Entry(file: position, declaration: index)
                    )
                } else {
                    nested.insert("\(file.target ?? "")|\(declaration.qualifiedName)")
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
    package func entries(named name: String) -> [Entry] { types[name] ?? [] }

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

    /// What a reference means.
    ///
    /// Types that surround the place hide others, then the own module hides those that are imported.
    package func meaning(
        of reference: ReferenceFact,
        in position: Int,
        of files: [SourceFile]
    ) -> Meaning {
        let file = files[position]
        var root = String(reference.root)
        var modules: Set<String>?
        // `Module.Type`: the module is said.
        if types[root] == nil, targets.contains(root), root.count < reference.path.count {
            modules = [root]
            let rest = reference.path.dropFirst(root.count + 1)
            root = String(rest.prefix { $0 != "." })
        }
        guard let known = types[root] else { return .unknown }
        if modules == nil, isHidden(root, by: reference.declaration, in: file) { return .unknown }

        let visible = known.filter { entry in
            let other = files[entry.file]
            let access = other.facts.declarations[entry.declaration].access
            return access > .fileprivate || entry.file == position
        }
        // What only this file can see hides the rest.
        let own = visible.filter {
            $0.file == position
        }
        if !own.isEmpty { return .declared(own) }
        if modules == nil || modules == file.target.map({ [$0] }) {
            let same = visible.filter { files[$0.file].target == file.target }
            if !same.isEmpty { return one(same, files) }
        }
        let imported = modules ?? Set(file.facts.imports.map(\.module))
        let isTestable = file.facts.imports.contains { $0.attributes.contains(.testable) }
        let others = visible.filter { entry in
            guard let target = files[entry.file].target, imported.contains(target) else {
                return false
            }
            return isTestable
                || files[entry.file].facts.declarations[entry.declaration].access >= .package
        }
        return others.isEmpty ? .unknown : one(others, files)
    }

    private func isHidden(_ name: String, by declaration: Int32, in file: SourceFile) -> Bool {
        guard declaration >= 0 else { return false }
        let target = file.target ?? ""
        var path = file.symbol(declaration)[...]
        while true {
            if nested.contains("\(target)|\(path).\(name)") { return true }
            guard let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
            path = path[..<dot]
        }
    }

    /// Declarations in the same target and the same layer mean the same to every contract.
    private func one(_ entries: [Entry], _ files: [SourceFile]) -> Meaning {
        let places = Set(
            entries.map { "\(files[$0.file].target ?? "")|\(files[$0.file].layer ?? -1)" }
        )
        return places.count == 1 ? .declared(entries) : .ambiguous(entries)
    }
}
