import Foundation
import RestaurantsDomain
import Testing

@testable import RestaurantsAPI
@testable import RestaurantsData
@testable import RestaurantsDemo
@testable import RestaurantsPresentation

@Suite("README samples")
struct ReadmeTests {
    /// The lines of the README's sample of `Scripts/demo.sh`.
    private func sample() throws -> [String] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../../README.md").standardized
        let text = try String(contentsOf: file, encoding: .utf8)
        let blocks = text.components(separatedBy: "```")
        return try #require(blocks.first { $0.contains("steps held") })
            .split(separator: "\n").map(String.init)
    }

    @Test("The sample of the demonstration matches its output")
    func demonstration() async throws {
        let setting = try Setting(data: nil)
        defer { setting.cleanUp() }
        let demonstration = Demonstration(setting)
        let chosen = await demonstration.chosen
        let (ada, id) = (try UserID("ada"), try RestaurantID(chosen.id))
        let restaurant = try Restaurant.fixture(chosen.id, chosen.name)
        let told = LiveEvent.favourited(RestaurantName(id: id, name: chosen.name))
        let count = await demonstration.stepTitles.count
        let lines = try sample()
        #expect(
            lines.prefix(2) == [
                "  A │ \(ChoiceView.favourited(restaurant, by: ada, .plain))",
                "  B │ \(LiveView.render(told, for: ada, .plain))",
            ]
        )
        // The duration differs from run to run.
        #expect(lines.last?.hasPrefix("\(count) of \(count) steps held, in ") == true)
        #expect(lines.count == 3)
    }
}
