extension RuleCheck {
    func isTransferObject(_ name: String) -> Bool {
        project.configuration.transferObjects.contains { $0.matches(name: name) } && !allows(name)
    }

    func lastName(_ path: String) -> String {
        path.split(separator: ".").last.map(String.init) ?? path
    }

    // MARK: Transfer objects

    mutating func checkTransferObjectLeaks() {
        for file in files {
            var seen: Set<String> = []
            for reference in file.facts.references
            where [.signature, .storage, .inheritance, .alias, .extended].contains(
                reference.context
            ) {
                guard
                    let name = reference.path.split(separator: ".").map(String.init).first(
                        where: isTransferObject
                    ),
                    let declaration = file.declaration(reference.declaration),
                    declaration.access >= .internal
                else { continue }
                guard seen.insert("\(declaration.qualifiedName)|\(name)").inserted else { continue }
                report(
                    file,
                    reference.place,
                    declaration.qualifiedName,
                    "The transfer object `\(name)` appears in a signature of \(layerName(file))."
                )
            }
        }
    }

    mutating func checkTransferObjectsCodable() {
        for (file, declaration) in transferObjects() {
            let conformances = project.index.conformances(of: declaration.qualifiedName)
            guard conformances.isDisjoint(with: ["Codable", "Decodable", "Encodable"]) else {
                continue
            }
            // An external protocol may include Codable.
            let others = conformances.filter {
                project.index.entries(named: $0).isEmpty && !Self.plainConformances.contains($0)
            }
            guard others.isEmpty else { continue }
            report(
                file,
                declaration.place,
                declaration.qualifiedName,
                "The transfer object `\(declaration.name)` is neither Decodable nor Encodable."
            )
        }
    }

    /// Conformances that do not include Codable.
    private static let plainConformances: Set<String> = [
        "Sendable", "Equatable", "Hashable", "Identifiable", "Comparable",
        "CustomStringConvertible",
        "CaseIterable", "Error",
    ]

    private func transferObjects() -> [(SourceFile, DeclarationFact)] {
        files.flatMap { file in
            file.facts.declarations.filter {
                [.struct, .class, .enum, .actor].contains($0.kind) && isTransferObject($0.name)
            }
            .map { (file, $0) }
        }
    }

    mutating func checkTransferObjectsSeparate() {
        for file in files {
            for reference in file.facts.references
            where [.storage, .alias].contains(reference.context) {
                guard let declaration = file.declaration(reference.declaration),
                    let owner = owner(of: declaration, in: file), isTransferObject(owner.name),
                    !declaration.traits.contains(.isStatic),
                    project.isEntity(String(reference.root)),
                    !isTransferObject(lastName(reference.path))
                else { continue }
                let verb = reference.context == .alias ? "is" : "holds"
                report(
                    file,
                    reference.place,
                    declaration.qualifiedName,
                    """
                    The transfer object `\(owner.name)` \(verb) the entity \
                    `\(reference.root)` of the domain.
                    """
                )
            }
        }
    }

    private func owner(of declaration: DeclarationFact, in file: SourceFile) -> DeclarationFact? {
        declaration.kind == .typealias ? declaration : file.declaration(declaration.parent)
    }

    mutating func checkTransferObjectsMapped() {
        let mapped = Set(
            project.files.flatMap { file in
                file.facts.declarations.filter {
                    ["toDomain", "asDomain", "domain"].contains($0.name)
                }
                .compactMap { file.declaration($0.parent)?.name }
            }
        )
        let held = Set(
            project.files.flatMap { file in
                file.facts.references.filter { reference in
                    reference.context == .storage
                        && file.declaration(reference.declaration)
                            .flatMap { file.declaration($0.parent) }
                            .map { isTransferObject($0.name) && $0.name != reference.path } ?? false
                }
                .map { lastName($0.path) }
            }
        )
        for (file, declaration) in transferObjects()
        where declaration.parent < 0 && !mapped.contains(declaration.name)
            && !held.contains(declaration.name) && !isOnlySent(declaration)
        {
            report(
                file,
                declaration.place,
                declaration.name,
                "The transfer object `\(declaration.name)` has no `toDomain()`."
            )
        }
    }

    private func isOnlySent(_ declaration: DeclarationFact) -> Bool {
        let conformances = project.index.conformances(of: declaration.qualifiedName)
        return conformances.contains("Encodable")
            && conformances.isDisjoint(with: ["Codable", "Decodable"])
    }

    // MARK: Repositories

    private static let repositories = [Glob("*Repository"), Glob("*RepositoryImpl")]

    private func isRepository(_ name: String) -> Bool {
        (Self.repositories + setting.also).contains { $0.matches(name: name) } && !allows(name)
    }

    mutating func checkRepositoryConformance() {
        for file in files {
            for declaration in file.facts.declarations
            where [.struct, .class, .actor].contains(declaration.kind)
                && isRepository(declaration.name)
                && declaration.parent < 0
            {
                let conformances = project.index.conformances(of: declaration.name)
                let isFine = conformances.contains { name in
                    let entries = project.index.entries(named: name)
                    // A protocol that is not declared here may be in another package's domain.
                    guard !entries.isEmpty else { return !Self.language.contains(name) }
                    return entries.contains { entry in
                        let other = project.files[entry.file]
                        return project.role(of: other) == .domain
                            && other.facts.declarations[entry.declaration].kind == .protocol
                    }
                }
                if isFine { continue }
                report(
                    file,
                    declaration.place,
                    declaration.name,
                    "The repository `\(declaration.name)` implements no protocol of the domain."
                )
            }
        }
    }

    /// General protocols, which do not describe the domain.
    private static let language: Set<String> = plainConformances.union([
        "Codable", "Decodable", "Encodable", "AnyObject", "NSObject", "ObservableObject", "Actor",
    ])

    mutating func checkRepositoryDecisions() {
        checkInRepositories(.transformation) { fact, type in
            "`\(type)` makes a decision: `.\(fact.name) { … }`."
        }
    }

    mutating func checkUnmappedErrors() {
        checkInRepositories(.uncaughtTry, in: .throwsAnything) { fact, type in
            "`\(type)` passes on what `\(fact.name.isEmpty ? "this" : fact.name)` throws."
        }
    }

    private mutating func checkInRepositories(
        _ kind: OccurrenceFact.Kind,
        in traits: DeclarationFact.Traits = [],
        _ message: (OccurrenceFact, String) -> String
    ) {
        for file in files {
            var seen: Set<String> = []
            for fact in file.facts.occurrences where fact.kind == kind {
                guard let declaration = file.declaration(fact.declaration),
                    declaration.traits.isSuperset(of: traits),
                    let type = declaration.qualifiedName.split(separator: ".").map(String.init)
                        .first(where: isRepository),
                    seen.insert("\(declaration.qualifiedName)|\(fact.name)").inserted
                else { continue }
                report(file, fact.place, declaration.qualifiedName, message(fact, type))
            }
        }
    }
}
