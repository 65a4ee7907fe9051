// Logs records with spdlog and prints the microseconds that one takes.
//
//     spdlog-records FILE COUNT WARM-UP
//
// The rotating sink for several threads, with the limit of Keel's files; each record is flushed, so
// that it survives the process as Keel's do. The form of a line is spdlog's own.

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

static void log(spdlog::logger &logger, const std::string &restaurant, int number) {
    logger.info("order placed items={} order={} restaurant={}", number % 8, 100000 + number,
                restaurant);
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    const int records = std::atoi(arguments[2]);
    const int warm_up = std::atoi(arguments[3]);
    const std::string restaurant = "Trattoria Bella Vista";
    auto logger = spdlog::rotating_logger_mt("app", arguments[1], 10 << 20, 10);
    logger->flush_on(spdlog::level::trace);
    for (int number = 0; number < warm_up; number++) log(*logger, restaurant, number);
    const auto start = std::chrono::steady_clock::now();
    for (int number = 0; number < records; number++) log(*logger, restaurant, warm_up + number);
    const std::chrono::duration<double, std::micro> time =
        std::chrono::steady_clock::now() - start;
    std::printf("%.6f\n", time.count() / records);
    return 0;
}
