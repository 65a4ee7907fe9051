extension RuleCheck {
    mutating func checkSwallowedMappings() {
        for file in files {
            for fact in file.facts.occurrences
            where fact.kind == .freshDefault && !allows(fact.name) {
                report(
                    file,
                    fact.place,
                    file.symbol(fact.declaration),
                    "A missing value becomes `\(fact.name)`, a different one each time."
                )
            }
        }
    }

    private static let writes: Set<String> = [
        "save", "write", "insert", "delete", "remove", "update", "upsert", "set", "put", "store",
        "persist", "commit", "replace", "upload", "add", "append", "enqueue", "archive", "create",
        "post",
    ]

    /// Writes that fail if the work is already done, or that do not concern data.
    private static let harmless: [Glob] = [
        "removeItem", "createDirectory", "setCategory", "setActive", "setAttributes",
        "setResourceValues", "setUp*", "storeKit*", "createTemporary*", "removeDirectory",
    ].map { Glob($0) }

    mutating func checkSwallowedWrites() {
        for file in files {
            for fact in file.facts.occurrences where fact.kind == .droppedTry {
                let name = lastName(fact.name)
                guard isWrite(name), !Self.harmless.contains(where: { $0.matches(name: name) })
                else { continue }
                report(
                    file,
                    fact.place,
                    file.symbol(fact.declaration),
                    "A failure of `\(fact.name)` goes unnoticed: `try?` drops the error."
                )
            }
        }
    }

    private func isWrite(_ name: String) -> Bool {
        guard !allows(name) else { return false }
        return NameWords.of(name).first.map(Self.writes.contains) ?? false
            || setting.also.contains { $0.matches(name: name) }
    }

    mutating func checkStoredEntities() {
        for file in files {
            var seen: Set<String> = []
            for fact in file.facts.occurrences where fact.kind == .handedOver {
                guard isStore(receiver: fact.name.split(separator: ".").dropLast()),
                    project.isEntity(fact.detail), !isTransferObject(fact.detail),
                    !allows(fact.detail)
                else { continue }
                let symbol = file.symbol(fact.declaration)
                guard seen.insert("\(symbol)|\(fact.detail)|\(fact.name)").inserted else {
                    continue
                }
                report(
                    file,
                    fact.place,
                    symbol,
                    "The entity `\(fact.detail)` of the domain is passed to `\(fact.name)`."
                )
            }
        }
    }

    /// Whether a receiver's name ends like that of a store: `self.noteStore`,
    /// `container.viewContext`, `UserDefaults.standard`.
    private func isStore(receiver: ArraySlice<Substring>) -> Bool {
        let only: Set<Substring> = ["standard", "shared", "default", "main"]
        guard let name = receiver.last(where: { !only.contains($0) }) else { return false }
        let words = NameWords.of(name)
        guard let last = words.last else { return false }
        if KnownModules.stores.contains(last) { return true }
        // The queue or pool of a database.
        return ["queue", "pool"].contains(last)
            && words.dropLast().last.map { ["db", "database"].contains($0) } ?? false
    }
}
