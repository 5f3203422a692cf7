// News of what goes on, asked for again and again from the server that the page came from.

const SOONEST = 400;
const LATEST = 3000;

/**
 * `address` says what is asked for; `take` gets an answer and says whether there may be more. `say` is told what is
 * wrong, or nothing if all is well again.
 */
export async function follow(address, take, say) {
  let pause = SOONEST;
  for (;;) {
    await new Promise((done) => setTimeout(done, pause));
    if (document.hidden) await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
    const begun = performance.now();
    try {
      const answer = await fetch(address(), { cache: "no-store" });
      if (answer.status !== 204 && !answer.ok) throw new Error((await answer.text()).trim());
      say("");
      if (answer.status !== 204 && !take(await answer.json())) return;
      // A large run is looked at less often: most of the time belongs to its reader.
      pause = Math.min(LATEST, Math.max(SOONEST, 5 * (performance.now() - begun)));
    } catch (error) {
      say(error instanceof TypeError ? "the server has ended, or cannot be reached" : error.message);
      pause = Math.min(LATEST, pause * 2);
    }
  }
}
