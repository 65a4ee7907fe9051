/// Guesses layers from the names of targets and folders.
///
/// It prefers no layer over a wrong one.
struct LayerGuess {
    fileprivate enum Part: Hashable {
        case role(LayerRole)
        /// The implementations of interfaces, such as `ApiClientLive` of `ApiClient`.
        case live
    }

    let layers: [Layer]
    /// Whether each file belongs to a layer.
    let isComplete: Bool

    init(_ files: [SourceFile]) {
        let files = files.filter { !$0.isTest }
        var parts = Places()
        var open: [SourceFile] = []
        for (_, group) in Dictionary(grouping: files, by: \.target).sorted(by: {
            ($0.key ?? "") < ($1.key ?? "")
        }) {
            let roles = Set(group.compactMap { Self.deepest($0)?.role })
            if let target = group.first?.target, roles.count < 2 {
                guard let part = Self.part(ofTarget: target) else { continue }
                parts.targets[part, default: []].insert(target)
            } else {
                open += group
            }
        }
        parts.addFolders(open)
        let isClean =
            parts.folders.keys.contains(.role(.domain))
            || parts.targets[.role(.domain)]?.contains(where: Self.saysDomain) ?? false
        if isClean {
            parts.addWeakFolders(open)
        } else {
            // Without a domain, `Core` and similar targets are not a separate layer: they use
            // models, and models use them.
            parts.targets[.role(.shared)] = nil
        }
        let made = parts.layers(isClean: isClean)
        let layers = made.count > 1 ? made : []
        self.layers = layers
        isComplete = files.allSatisfy { file in layers.contains { $0.has(file) } }
    }

    fileprivate struct Places {
        var targets: [Part: Set<String>] = [:]
        var folders: [Part: Set<String>] = [:]
    }

    // MARK: Names

    private static func part(ofTarget name: String) -> Part? {
        if NameWords.of(name).last == "live" { return .live }
        return LayerRole.named(name).map { .role($0) }
    }

    /// Whether a name indicates a domain, rather than models.
    private static func saysDomain(_ name: String) -> Bool {
        let words: Set<String> = ["domain", "domains", "business", "cases", "usecases"]
        return NameWords.of(name).last { $0 != "layer" }.map(words.contains) ?? false
    }

    /// Folder names that indicate a role anywhere.
    fileprivate static let strong: [Substring: LayerRole] = [
        "domain": .domain, "data": .data, "infrastructure": .infrastructure,
        "presentation": .presentation, "ui": .presentation, "views": .presentation,
    ]

    /// Folder names that indicate a role if there is a domain, unless a folder within does.
    fileprivate static let weak: [Substring: LayerRole] = [
        "features": .presentation, "scenes": .presentation, "screens": .presentation,
        "app": .composition, "application": .composition, "composition": .composition,
        "common": .shared, "shared": .shared,
    ]

    fileprivate static func folders(of file: SourceFile) -> [(name: Substring, path: String)] {
        let parts = file.path.split(separator: "/").dropLast()
        let skipped = file.targetFolder?.split(separator: "/").count ?? 0
        return parts.indices.dropFirst(skipped).map { index in
            (Substring(parts[index].lowercased()), parts[...index].joined(separator: "/"))
        }
    }

    /// The role of a file's deepest folder, in `Features/Login/Data` that of `Data`, with the outermost folder of that
    /// role below any other role's.
    fileprivate static func deepest(_ file: SourceFile) -> (role: LayerRole, path: String)? {
        var found: (role: LayerRole, path: String)?
        for (name, path) in folders(of: file).reversed() {
            guard let role = strong[name] else { continue }
            guard role == found?.role ?? role else { break }
            found = (role, path)
        }
        return found
    }
}

// MARK: Folders

extension LayerGuess.Places {
    fileprivate mutating func addFolders(_ files: [SourceFile]) {
        for file in files {
            guard let (role, path) = LayerGuess.deepest(file) else { continue }
            folders[.role(role), default: []].insert(path)
        }
    }

    fileprivate mutating func addWeakFolders(_ files: [SourceFile]) {
        var holders: Set<String> = []
        for file in files {
            let all = LayerGuess.folders(of: file)
            guard
                let last = all.lastIndex(where: {
                    LayerGuess.strong[$0.name] != nil || LayerGuess.weak[$0.name] != nil
                })
            else { continue }
            holders.formUnion(all[..<last].map(\.path))
        }
        for file in files where LayerGuess.deepest(file) == nil {
            guard
                let (name, path) = LayerGuess.folders(of: file).last(where: {
                    LayerGuess.weak[$0.name] != nil
                }), let role = LayerGuess.weak[name], !holders.contains(path)
            else { continue }
            folders[.role(role), default: []].insert(path)
        }
    }

    // MARK: Layers

    fileprivate func layers(isClean: Bool) -> [Layer] {
        let parts: [LayerGuess.Part] = LayerRole.allCases.map { .role($0) } + [.live]
        let present = parts.filter { targets[$0] != nil || folders[$0] != nil }
        let layers = present.map { part in
            var layer = Layer(name: Self.title(part), role: Self.role(part))
            layer.targets = (targets[part] ?? []).sorted().map { Glob($0) }
            layer.paths = Self.shortened(folders[part] ?? []).map { Glob($0) }
            layer.uses = uses(of: part, among: present, isClean: isClean)
            return layer
        }
        return Self.innermostFirst(layers)
    }

    /// A file belongs to the first matching layer, so nested folders come first.
    private static func innermostFirst(_ layers: [Layer]) -> [Layer] {
        func holds(_ outer: Layer, _ inner: Layer) -> Bool {
            inner.paths.contains { path in
                outer.paths.contains { $0 != path && $0.matches(path: path.pattern) }
            }
        }
        var sorted: [Layer] = []
        for layer in layers {
            let position = sorted.firstIndex { holds($0, layer) && !holds(layer, $0) }
            sorted.insert(layer, at: position ?? sorted.count)
        }
        return sorted
    }

    /// Combines folders that differ in one component into a pattern: `Features/*/Data`.
    private static func shortened(_ paths: Set<String>) -> [String] {
        var rest = paths
        var short: [String] = []
        for path in paths.sorted() where rest.contains(path) {
            let parts = path.split(separator: "/")
            for hole in parts.indices.dropLast().reversed() where hole > 0 {
                let alike = rest.filter { other in
                    let others = other.split(separator: "/")
                    return others.count == parts.count
                        && parts.indices.allSatisfy { $0 == hole || parts[$0] == others[$0] }
                }
                guard alike.count > 1 else { continue }
                rest.subtract(alike)
                var pattern = parts
                pattern[hole] = "*"
                short.append(pattern.joined(separator: "/"))
                break
            }
            if rest.remove(path) != nil { short.append(path) }
        }
        return short.sorted()
    }

    private static func role(_ part: LayerGuess.Part) -> LayerRole? {
        switch part {
        case .role(let role): role
        case .live: .infrastructure
        }
    }

    private static func title(_ part: LayerGuess.Part) -> String {
        switch part {
        case .role(.domain): "Domain"
        case .role(.data): "Data"
        case .role(.infrastructure): "Infrastructure"
        case .role(.presentation): "Presentation"
        case .role(.composition): "App"
        case .role(.shared): "Shared"
        case .live: "Live"
        }
    }

    /// The layers that a layer may use; nil for all.
    ///
    /// With a domain, these are the directions of a clean architecture. Without one, the presentation may use all but
    /// the composition root and the implementations. Only the composition root may use the presentation.
    private func uses(
        of part: LayerGuess.Part,
        among present: [LayerGuess.Part],
        isClean: Bool
    ) -> Set<String>? {
        let wanted: [LayerGuess.Part]
        switch part {
        case .role(.composition): return nil
        case .live:
            wanted = present.filter { ![.role(.presentation), .role(.composition)].contains($0) }
        case .role(.domain): wanted = [.role(.shared)]
        case .role(.shared): wanted = []
        case .role(.data): wanted = [.role(.domain), .role(.infrastructure), .role(.shared)]
        case .role(.infrastructure):
            let hasData = present.contains(.role(.data))
            wanted = [.role(.shared)] + (isClean && hasData ? [] : [.role(.domain)])
        case .role(.presentation):
            wanted =
                isClean
                ? [.role(.domain), .role(.shared)]
                : present.filter { ![.live, .role(.composition)].contains($0) }
        }
        return Set(present.filter { wanted.contains($0) && $0 != part }.map(Self.title))
    }
}
