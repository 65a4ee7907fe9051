struct ContractChecker {
    let project: Project

    func findings() -> [Finding] {
        LayerChecker(project: project).findings() + CycleChecker(project: project).findings()
            + project.configuration.contracts.flatMap(findings)
    }

    private func findings(of contract: Contract) -> [Finding] {
        switch contract.kind {
        case .forbidden(let from, let to): forbidden(contract, from, to)
        case .protected(let modules, let users): protected(contract, modules, users)
        case .independent(let members): independent(contract, members)
        case .acyclic(let scope): acyclic(contract, scope)
        }
    }

    // MARK: Parts

    private func plainPart(_ file: SourceFile) -> String {
        if let layer = file.layer { return project.configuration.layers[layer].name }
        if let target = file.target { return target }
        return file.folder.isEmpty ? file.path : String(file.folder)
    }

    private func member(_ selectors: [Selector], _ file: SourceFile) -> String? {
        selectors.first { $0.has(file, in: project) }.map(\.glob.pattern)
    }

    private func isModule(_ part: String, in selectors: [Selector]) -> Bool {
        guard part.hasPrefix(UseGraph.outside) else { return false }
        let name = String(part.dropFirst(UseGraph.outside.count))
        return selectors.contains { $0.hasModule(name, in: project) }
    }

    // MARK: Kinds

    private func forbidden(
        _ contract: Contract,
        _ from: [Selector],
        _ to: [Selector]
    ) -> [Finding] {
        // A file can be on both sides: `from: ["*"]` includes what it may not use.
        let marks = (from: "\u{1}", to: "\u{2}", both: "\u{3}")
        let graph = UseGraph(project) { file in
            let user = member(from, file)
            if let used = member(to, file) { return (user == nil ? marks.to : marks.both) + used }
            return user.map { marks.from + $0 } ?? plainPart(file)
        }
        return broken(
            contract,
            graph,
            user: { member(from, $0) },
            starts: { $0.hasPrefix(marks.from) || $0.hasPrefix(marks.both) },
            ends: { _, end in
                end.hasPrefix(marks.to) || end.hasPrefix(marks.both) || isModule(end, in: to)
            }
        )
    }

    private func protected(
        _ contract: Contract,
        _ modules: [Selector],
        _ users: [Selector]
    ) -> [Finding] {
        let marks = (target: "\u{2}", user: "\u{3}")
        let graph = UseGraph(project) { file in
            if let name = member(modules, file) { return marks.target + name }
            if let name = member(users, file) { return marks.user + name }
            return plainPart(file)
        }
        return broken(
            contract,
            graph,
            starts: { !$0.hasPrefix(marks.target) && !$0.hasPrefix(marks.user) },
            ends: { _, end in end.hasPrefix(marks.target) || isModule(end, in: modules) },
            // Indirect use through a permitted user is allowed.
            over: { !$0.hasPrefix(marks.user) }
        )
    }

    private func independent(_ contract: Contract, _ members: [Selector]) -> [Finding] {
        let mark = "\u{1}"
        let graph = UseGraph(project) { file in
            for selector in members where selector.has(file, in: project) {
                return mark + independentName(selector, file)
            }
            return plainPart(file)
        }
        return broken(
            contract,
            graph,
            starts: { $0.hasPrefix(mark) },
            ends: { start, end in end.hasPrefix(mark) && end != start }
        )
    }

    /// A pattern such as `Features/*` stands for each matching folder, `Feature*` for each target.
    private func independentName(_ selector: Selector, _ file: SourceFile) -> String {
        guard !selector.glob.isPlain else { return selector.glob.pattern }
        switch selector.kind {
        case .path:
            // A pattern may begin with `./`, which paths do not.
            let depth = selector.glob.pattern.split(separator: "/").filter { $0 != "." }
                .prefix { $0 != "**" }.count
            return file.path.split(separator: "/").prefix(depth).joined(separator: "/")
        case .layer: return plainPart(file)
        case .target, .any, .module: return file.target ?? plainPart(file)
        }
    }

    private func acyclic(_ contract: Contract, _ scope: Contract.Scope) -> [Finding] {
        let graph = UseGraph(project) { file in
            switch scope {
            case .layers: return file.layer.map { project.configuration.layers[$0].name }
            case .targets:
                return file.target ?? file.path.split(separator: "/").first.map(String.init)
            case .folders(let parent):
                guard file.path.hasPrefix(parent + "/") else { return nil }
                let rest = file.path.dropFirst(parent.count + 1).split(separator: "/")
                return rest.count > 1 ? rest.first.map(String.init) : nil
            case .members(let members): return member(members, file)
            }
        }
        return graph.circles().compactMap { circle in
            guard let first = circle.first, let last = circle.last else { return nil }
            let names = [last.to] + circle.map(\.to)
            return finding(
                contract,
                first.use,
                symbol: names.joined(separator: " → "),
                "\(names.joined(separator: " → ")): these form a cycle.",
                path: path(from: Self.shown(last.to), circle)
            )
        }
    }

    // MARK: Findings

    /// `user` returns the name of a start in messages, given a file in it; nil for that of its part.
    private func broken(
        _ contract: Contract,
        _ graph: UseGraph,
        user: (SourceFile) -> String? = { _ in nil },
        starts: (String) -> Bool,
        ends: (String, String) -> Bool,
        over: (String) -> Bool = { _ in true }
    ) -> [Finding] {
        var found: [Finding] = []
        var direct: Set<[String]> = []
        var seen: Set<[String]> = []
        func shownUser(_ use: Project.Use, _ part: String) -> String {
            Self.shown(user(project.files[use.file]) ?? part)
        }
        for (use, from, to) in graph.crossings where starts(from) && ends(from, to) {
            direct.insert([from, to])
            guard seen.insert([String(use.file), use.symbol, use.shown]).inserted else { continue }
            found.append(
                finding(
                    contract,
                    use,
                    symbol: use.symbol,
                    "\(shownUser(use, from)) uses \(use.shown), which is \(Self.shown(to))."
                )
            )
        }
        guard contract.isTransitive else { return found }
        for start in graph.edges.keys.sorted() where starts(start) {
            var reached: Set<String> = []
            while let way = graph.way(
                from: start,
                to: { end in
                    ends(start, end) && !direct.contains([start, end]) && !reached.contains(end)
                },
                over: {
                    over($0) && !(starts($0) || ends(start, $0)) && !$0.hasPrefix(UseGraph.outside)
                }
            ), let first = way.first, let last = way.last {
                reached.insert(last.to)
                let shownStart = shownUser(first.use, start)
                let names = [shownStart] + way.map { Self.shown($0.to) }
                found.append(
                    finding(
                        contract,
                        first.use,
                        symbol: names.joined(separator: " → "),
                        """
                        \(shownStart) reaches \(Self.shown(last.to)): \
                        \(names.joined(separator: " → ")).
                        """,
                        path: path(from: shownStart, way)
                    )
                )
            }
        }
        return found
    }

    private static func shown(_ part: String) -> String {
        let name = part.drop { $0 == "\u{1}" || $0 == "\u{2}" || $0 == "\u{3}" }
        return name.hasPrefix(UseGraph.outside) ? "the \(name)" : "`\(name)`"
    }

    private func path(from start: String, _ way: [UseGraph.Step]) -> [String] {
        project.path(way.map { (Self.shown($0.to), $0.use) }, from: start)
    }

    private func finding(
        _ contract: Contract,
        _ use: Project.Use,
        symbol: String,
        _ message: String,
        path: [String] = []
    ) -> Finding {
        Finding(
            contract.name,
            in: project.files[use.file],
            at: use.place,
            symbol: symbol,
            message,
            help: contract.because
                ?? "The contract `\(contract.name)` (\(contract.word)) does not allow it.",
            path: path
        )
    }
}

extension Project {
    func path(_ steps: [(to: String, use: Use)], from start: String) -> [String] {
        var last = start
        return steps.map { to, use in
            defer { last = to }
            return "\(last) → \(to): \(files[use.file].path):\(use.place.line) \(use.shown)"
        }
    }
}

extension Project.Use {
    var shown: String {
        switch what {
        case .module(let name): "`import \(name)`"
        case .type(let name, _): "`\(name)`"
        }
    }
}

extension Selector {
    func has(_ file: SourceFile, in project: Project) -> Bool {
        let layer = file.layer.map { project.configuration.layers[$0].name }
        switch kind {
        case .layer: return layer.map { glob.matches(name: $0) } ?? false
        case .target: return file.target.map { glob.matches(name: $0) } ?? false
        case .path: return glob.matches(path: file.path)
        case .module: return false
        case .any:
            if let layer, glob.matches(name: layer) { return true }
            return file.target.map { glob.matches(name: $0) } ?? false
        }
    }

    func hasModule(_ name: String, in project: Project) -> Bool {
        (kind == .module || kind == .any) && glob.matches(name: name)
    }
}
