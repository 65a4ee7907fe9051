import KeelLint
import Testing

@Suite("The corpus")
struct CorpusTests {
    @Test("Exactly the expected findings are reported", arguments: Corpus.all)
    func findings(_ item: CorpusCase) throws {
        let report = try TemporaryProject(item.files).lint()
        let found = report.findings.map { "\($0.file):\($0.line) \($0.rule)" }.sorted()
        #expect(found == item.expected, "\(TextReport.text(report))")
    }

    @Test("There are at least 150 apps, a third of them in each layout")
    func size() {
        #expect(Corpus.all.count >= 150)
        for layout in Layout.allCases {
            #expect(Corpus.all.count { $0.layout == layout } >= 45)
        }
        #expect(Corpus.all.count { !$0.expected.isEmpty } >= 100)
        #expect(Corpus.all.count { $0.expected.isEmpty } >= 30)
    }

    @Test("Each rule has a finding in the corpus")
    func rules() {
        let found = Set(
            Corpus.all.flatMap { $0.expected.compactMap { $0.split(separator: " ").last } }
        )
        for rule in BuiltInRules.all where rule.id != "stale-baseline" {
            #expect(found.contains(Substring(rule.id)), "\(rule.id)")
        }
    }
}
