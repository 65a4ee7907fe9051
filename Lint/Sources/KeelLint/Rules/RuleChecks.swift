struct RuleCheck {
    let rule: RuleDescription
    let project: Project
    let setting: RuleSetting
    private(set) var found: [Finding] = []
    private var listed: [String: Bool] = [:]

    init(_ rule: RuleDescription, _ project: Project) {
        self.rule = rule
        self.project = project
        setting = project.configuration.setting(rule.id)
    }

    var files: [SourceFile] { project.files(for: rule) }

    func allows(_ name: String) -> Bool { setting.allow.contains { $0.matches(name: name) } }

    /// Whether a name is listed and not allowed; results are kept by name, as each rule has one list.
    mutating func isListed(_ name: String, _ list: [Glob]) -> Bool {
        if let known = listed[name] { return known }
        let isListed = (list + setting.also).contains { $0.matches(name: name) } && !allows(name)
        listed[name] = isListed
        return isListed
    }

    mutating func report(
        _ file: SourceFile,
        _ place: SourcePlace,
        _ symbol: String,
        _ message: String,
        help: String? = nil
    ) {
        found.append(
            Finding(rule.id, in: file, at: place, symbol: symbol, message, help: help ?? rule.help)
        )
    }
}

struct RuleRunner {
    let project: Project

    func findings() -> [Finding] {
        BuiltInRules.all.flatMap { rule -> [Finding] in
            guard project.configuration.isOn(rule), let work = Self.works[rule.id] else {
                return []
            }
            var check = RuleCheck(rule, project)
            work(&check)
            return check.found
        }
    }

    private static let works: [String: @Sendable (inout RuleCheck) -> Void] = [
        "domain-imports": { $0.checkDomainImports() },
        "dto-leak": { $0.checkTransferObjectLeaks() },
        "dto-codable": { $0.checkTransferObjectsCodable() },
        "dto-separate": { $0.checkTransferObjectsSeparate() },
        "dto-mapping": { $0.checkTransferObjectsMapped() },
        "repository-conformance": { $0.checkRepositoryConformance() },
        "repository-business-rule": { $0.checkRepositoryDecisions() },
        "unmapped-errors": { $0.checkUnmappedErrors() },
        "transport-errors": { $0.checkTransportErrors() },
        "vendor-modules": { $0.checkVendorModules() },
        "vendor-reexport": { $0.checkVendorExports() },
        "ambient-effects": { $0.checkEffects() },
        "missing-test-double": { $0.checkTestDoubles() },
        "swallowed-mapping": { $0.checkSwallowedMappings() },
        "swallowed-write": { $0.checkSwallowedWrites() },
        "entity-in-store": { $0.checkStoredEntities() },
        "naming": { $0.checkNaming() },
        "concrete-service": { $0.checkConcreteServices() },
        "constructed-service": { $0.checkConstructedServices() },
        "service-ui": { $0.checkServiceScreens() },
    ]
}

// MARK: Names

extension RuleCheck {
    mutating func checkTransportErrors() {
        for file in files {
            var seen: Set<String> = []
            for reference in file.facts.references {
                let root = String(reference.root)
                guard isListed(root, KnownModules.transportErrors), !isDomainsOwn(root),
                    !isCoding(reference, in: file),
                    !project.index.isHidden(root, by: reference, in: file)
                else { continue }
                let symbol = file.symbol(reference.declaration)
                guard seen.insert("\(symbol)|\(root)").inserted else { continue }
                report(
                    file,
                    reference.place,
                    symbol,
                    """
                    `\(root)` is an error of the transport, and \(layerName(file)) should \
                    not know it.
                    """
                )
            }
        }
    }

    private func isCoding(_ reference: ReferenceFact, in file: SourceFile) -> Bool {
        guard let declaration = file.declaration(reference.declaration) else { return false }
        switch reference.root {
        case "DecodingError": return declaration.kind == .initializer
        case "EncodingError": return declaration.name == "encode"
        default: return false
        }
    }

    private func isDomainsOwn(_ name: String) -> Bool {
        project.index.entries(named: name).contains { entry in
            let role = project.role(of: project.files[entry.file])
            return role == .domain || role == .presentation || role == .shared
        }
    }

    func layerName(_ file: SourceFile) -> String {
        file.layer.map { project.configuration.layers[$0].name } ?? "this file"
    }

    mutating func checkEffects() {
        let also = setting.also.map { glob in
            KnownModules.Effect(
                path: glob.pattern,
                calls: [],
                instead: "something that is passed in"
            )
        }
        let effects = (KnownModules.effects + also).map { (Glob($0.path), $0) }
        let functions = functions(named: Set(effects.map(\.1.path)))
        for file in files {
            var seen: Set<String> = []
            for reference in file.facts.references where reference.context == .body {
                var path = reference.path
                if path.hasPrefix("Foundation.") { path.removeFirst("Foundation.".count) }
                let prefixes = Self.prefixes(of: path)
                guard
                    let (_, effect) = effects.first(where: { glob, effect in
                        effect.calls.isEmpty
                            ? prefixes.contains { glob.matches(name: $0) }
                            : glob.matches(name: path) && effect.calls.contains(reference.call)
                    }), !prefixes.contains(where: allows),
                    project.index.entries(named: prefixes[0]).isEmpty,
                    !project.index.isHidden(prefixes[0], by: reference, in: file),
                    !isFunction(prefixes[0], near: reference, in: file, among: functions)
                else { continue }
                let symbol = file.symbol(reference.declaration)
                guard seen.insert("\(symbol)|\(path)").inserted else { continue }
                let shown = path + (reference.call.isEmpty ? "" : reference.call)
                report(
                    file,
                    reference.place,
                    symbol,
                    "`\(shown)` reaches outside \(layerName(file)).",
                    help: "Take \(effect.instead)."
                )
            }
        }
    }

    /// With their targets, or their files if they are private.
    private func functions(named names: Set<String>) -> Set<String> {
        var found: Set<String> = []
        for file in project.files where !file.isTest {
            for declaration in file.facts.declarations
            where declaration.kind == .function && names.contains(declaration.name) {
                let place = declaration.access <= .fileprivate ? file.path : file.target ?? ""
                found.insert("\(place)|\(declaration.qualifiedName)")
            }
        }
        return found
    }

    private func isFunction(
        _ name: String,
        near reference: ReferenceFact,
        in file: SourceFile,
        among functions: Set<String>
    ) -> Bool {
        guard !functions.isEmpty else { return false }
        func has(_ path: String) -> Bool {
            functions.contains("\(file.path)|\(path)")
                || functions.contains("\(file.target ?? "")|\(path)")
        }
        var scope = file.symbol(reference.declaration)[...]
        while true {
            if has("\(scope).\(name)") { return true }
            guard let dot = scope.lastIndex(of: ".") else { return has(name) }
            scope = scope[..<dot]
        }
    }

    /// Returns `A`, `A.b` and `A.b.c` for `A.b.c`.
    static func prefixes(of path: String) -> [String] {
        var prefixes: [String] = []
        for component in path.split(separator: ".") {
            prefixes.append(prefixes.last.map { "\($0).\(component)" } ?? String(component))
        }
        return prefixes
    }

    mutating func checkTestDoubles() {
        for file in files {
            for (index, declaration) in file.facts.declarations.enumerated()
            where declaration.kind == .protocol && declaration.parent < 0
                && declaration.access >= .internal
            {
                let name = declaration.name
                guard isListed(name, KnownModules.ports), hasRequirements(file, index) else {
                    continue
                }
                guard !project.index.conformers(of: name).contains(where: isDouble) else {
                    continue
                }
                report(
                    file,
                    declaration.place,
                    name,
                    "The port `\(name)` has no double for tests."
                )
            }
        }
    }

    private func hasRequirements(_ file: SourceFile, _ index: Int) -> Bool {
        file.facts.declarations.contains { $0.parent == Int32(index) }
    }

    func isDouble(_ type: String) -> Bool {
        let name = type.split(separator: ".").last.map(String.init) ?? type
        if KnownModules.doubles.contains(where: { $0.matches(name: name) }) { return true }
        return project.files.contains { file in
            file.isTest
                && file.facts.references.contains { reference in
                    reference.context == .inheritance
                        && file.declaration(reference.declaration)?.qualifiedName == type
                }
        }
    }
}
