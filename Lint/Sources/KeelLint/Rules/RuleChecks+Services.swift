extension RuleCheck {
    // MARK: Held and created types

    mutating func checkConcreteServices() {
        for file in files(outside: [.composition]) {
            for reference in file.facts.references where reference.context == .storage {
                guard let property = property(of: reference, in: file),
                    property.traits.isDisjoint(with: [.hasAttributes, .isStatic]),
                    let holder = holder(of: property, in: file),
                    let (type, port) = service(reference.path), type != holder
                else { continue }
                report(
                    file,
                    reference.place,
                    property.qualifiedName,
                    "`\(property.qualifiedName)` holds `\(type)`, which implements `\(port)`.",
                    help: "Hold `any \(port)`; create `\(type)` in the composition root."
                )
            }
        }
    }

    mutating func checkConstructedServices() {
        for file in files(outside: [.composition]) {
            for reference in file.facts.references where reference.context == .body {
                guard let declaration = file.declaration(reference.declaration),
                    isMade(declaration), let holder = holder(of: declaration, in: file),
                    let made = madeType(reference), let (type, port) = service(made), type != holder
                else { continue }
                let shown = reference.path + (reference.call == "()" ? "()" : "")
                report(
                    file,
                    reference.place,
                    declaration.qualifiedName,
                    "`\(holder)` creates `\(shown)` itself, so it cannot be replaced.",
                    help:
                        "Take `any \(port)` as a parameter of the initializer; a default value is fine."
                )
            }
        }
    }

    /// The files to check: those of the configured layers, or else all outside of some roles.
    private func files(outside roles: Set<LayerRole>) -> [SourceFile] {
        guard setting.layers == nil else { return files }
        return files.filter { file in project.role(of: file).map { !roles.contains($0) } ?? true }
    }

    private func property(of reference: ReferenceFact, in file: SourceFile) -> DeclarationFact? {
        guard let declaration = file.declaration(reference.declaration),
            declaration.kind == .variable, declaration.traits.contains(.isStored)
        else { return nil }
        return declaration
    }

    private func isMade(_ declaration: DeclarationFact) -> Bool {
        switch declaration.kind {
        case .initializer: true
        case .variable:
            declaration.traits.isSuperset(of: .isStored)
                && !declaration.traits.contains(.isStatic)
        default: false
        }
    }

    private func madeType(_ reference: ReferenceFact) -> String? {
        let parts = reference.path.split(separator: ".")
        guard let last = parts.last else { return nil }
        if ["shared", "default", "live"].contains(last) {
            return parts.dropLast().joined(separator: ".")
        }
        guard !reference.call.isEmpty else { return nil }
        return last == "init" ? parts.dropLast().joined(separator: ".") : reference.path
    }

    private static let free = KnownModules.composers + KnownModules.doubles

    /// Names of types that are not services.
    private static let others =
        KnownModules.doubles + KnownModules.screenTypes + [Glob("*View"), Glob("*Cell")]

    /// The name of the type that contains a declaration; nil for composers, doubles and allowed types.
    private func holder(of declaration: DeclarationFact, in file: SourceFile) -> String? {
        guard let type = file.declaration(declaration.parent),
            type.kind.isNominal || type.kind == .extension
        else { return nil }
        let name = type.name.split(separator: ".").last.map(String.init) ?? type.name
        let parts = type.qualifiedName.split(separator: ".").map(String.init)
        guard
            !parts.contains(where: { name in Self.free.contains { $0.matches(name: name) } }),
            !allows(name)
        else { return nil }
        let apps: Set<String> = ["App", "UIApplicationDelegate", "NSApplicationDelegate"]
        return project.index.conformances(of: type.qualifiedName).isDisjoint(with: apps)
            ? name : nil
    }

    private mutating func service(_ path: String) -> (type: String, port: String)? {
        let name = path.split(separator: ".").last.map(String.init) ?? path
        guard !allows(name), isImplementation(name) else { return nil }
        let conformances = project.index.conformances(of: name)
        // Views require the concrete type of an observed object.
        guard !conformances.contains("ObservableObject") else { return nil }
        for port in conformances.sorted()
        where isListed(port, KnownModules.services) && Self.kind(port) == Self.kind(name)
            && isProtocol(port)
        { return (name, port) }
        return nil
    }

    /// The word for the kind of a name: `service` of `UserServiceProtocol` and `UserServiceImpl`.
    private static func kind(_ name: String) -> String? {
        let additions: Set<String> = ["protocol", "type", "interface", "impl", "live"]
        return NameWords.of(name).last { !additions.contains($0) }
    }

    private func isImplementation(_ name: String) -> Bool {
        let kinds: Set<DeclarationFact.Kind> = [.struct, .class, .actor]
        return project.index.entries(named: name).contains { entry in
            kinds.contains(project.files[entry.file].facts.declarations[entry.declaration].kind)
        } && !Self.others.contains { $0.matches(name: name) }
    }

    private func isProtocol(_ name: String) -> Bool {
        project.index.entries(named: name).contains { entry in
            let declaration = project.files[entry.file].facts.declarations[entry.declaration]
            return declaration.kind == .protocol
        }
    }

    // MARK: Forbidden uses

    mutating func checkServiceScreens() {
        for file in files(outside: [.composition, .presentation]) {
            var seen: Set<String> = []
            for reference in file.facts.references where reference.context != .attribute {
                let symbol = file.symbol(reference.declaration)
                let type = symbol.split(separator: ".").first.map(String.init) ?? symbol
                guard KnownModules.serviceTypes.contains(where: { $0.matches(name: type) }),
                    !allows(type), let shown = screen(reference),
                    seen.insert("\(symbol)|\(shown)").inserted
                else { continue }
                report(
                    file,
                    reference.place,
                    symbol,
                    "The service `\(type)` uses `\(shown)`, which belongs to the screen."
                )
            }
        }
    }

    private mutating func screen(_ reference: ReferenceFact) -> String? {
        let isOwn = !project.index.entries(named: String(reference.root)).isEmpty
        let listed = isOwn ? KnownModules.screenTypes : KnownModules.screens
        return Self.prefixes(of: reference.path).first { name in
            (listed + setting.also).contains { $0.matches(name: name) } && !allows(name)
        }
    }
}
